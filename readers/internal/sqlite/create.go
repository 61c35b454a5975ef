package sqlite

import (
	"errors"
	"strconv"
	"strings"
)

// A column is what the definition of a table says of one.
type column struct {
	name    string
	integer bool  // its type is INTEGER
	rowid   bool  // its values are the numbers of the rows
	missing Value // in records that end before it
}

// parseCreate returns the columns of a table, from the text that made it.
func parseCreate(sql string) ([]column, error) {
	words := tokens(sql)
	i := 0
	for i < len(words) && words[i] != (token{text: "("}) {
		i++
	}
	if i == len(words) {
		return nil, errors.New("its definition has no columns")
	}
	var columns []column
	var key string
	depth := 0
	var part []token
	for ; i < len(words); i++ {
		w := words[i]
		switch {
		case w == token{text: "("}:
			if depth++; depth == 1 {
				continue
			}
		case w == token{text: ")"}:
			depth--
		}
		if depth > 1 || depth == 1 && w != (token{text: ","}) {
			part = append(part, w)
			continue
		}
		if c, primary, ok := parsePart(part); ok {
			columns = append(columns, c)
		} else if primary != "" {
			key = primary
		}
		if len(columns) > maxColumns {
			return nil, errors.New("it has too many columns")
		}
		if part = part[:0]; depth == 0 {
			break
		}
	}
	for ; i < len(words); i++ {
		if words[i].is("WITHOUT") {
			return nil, errors.New("it is stored as an index (WITHOUT ROWID), which is not read")
		}
	}
	for c := range columns {
		if key != "" && strings.EqualFold(columns[c].name, key) && columns[c].integer {
			columns[c].rowid = true
		}
	}
	return columns, nil
}

// parsePart parses a column; or a constraint, which may name the column that is the primary key.
func parsePart(part []token) (c column, primary string, ok bool) {
	if len(part) == 0 {
		return c, "", false
	}
	if !part[0].quoted {
		switch strings.ToUpper(part[0].text) {
		case "CONSTRAINT", "UNIQUE", "CHECK", "FOREIGN":
			return c, "", false
		case "PRIMARY":
			if len(part) == 5 {
				return c, part[3].text, false
			}
			return c, "", false
		}
	}
	c.name = part[0].text
	c.integer = len(part) > 1 && part[1].is("INTEGER") && (len(part) == 2 || !isType(part[2]))
	for i := 1; i+1 < len(part); i++ {
		switch {
		case part[i].is("PRIMARY") && part[i+1].is("KEY"):
			c.rowid = c.integer && !(i+2 < len(part) && part[i+2].is("DESC"))
		case part[i].is("DEFAULT"):
			c.missing = literal(part[i+1:])
		}
	}
	return c, "", true
}

// isType reports whether a word goes on with the type of a column, and begins no constraint.
func isType(t token) bool {
	switch strings.ToUpper(t.text) {
	case "CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES", "GENERATED", "AS", "ON":
		return t.quoted
	}
	return true
}

// literal returns the value of a literal; of other expressions, null.
func literal(part []token) Value {
	text := part[0].text
	if part[0].quoted {
		return Value{Type: Text, bytes: []byte(text)}
	}
	if (text == "-" || text == "+") && len(part) > 1 {
		text += part[1].text
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return Value{Type: Integer, bits: n}
	}
	return Value{}
}

// A token is a word or a sign of a definition.
type token struct {
	text   string
	quoted bool
}

func (t token) is(keyword string) bool { return !t.quoted && strings.EqualFold(t.text, keyword) }

// tokens splits a definition.
func tokens(sql string) (out []token) {
	for i := 0; i < len(sql); {
		c := sql[i]
		switch {
		case c <= ' ':
			i++
		case strings.HasPrefix(sql[i:], "--"):
			if n := strings.IndexByte(sql[i:], '\n'); n >= 0 {
				i += n
			} else {
				i = len(sql)
			}
		case strings.HasPrefix(sql[i:], "/*"):
			if n := strings.Index(sql[i+2:], "*/"); n >= 0 {
				i += n + 4
			} else {
				i = len(sql)
			}
		case c == '\'' || c == '"' || c == '`' || c == '[':
			text, n := quoted(sql[i:])
			out = append(out, token{text, true})
			i += n
		case isWord(c):
			n := 1
			for i+n < len(sql) && isWord(sql[i+n]) {
				n++
			}
			out = append(out, token{sql[i : i+n], false})
			i += n
		default:
			out = append(out, token{sql[i : i+1], false})
			i++
		}
	}
	return out
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c == '.' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
}

// quoted returns the text between the quotes that s begins with, and how long it is with them.
func quoted(s string) (text string, n int) {
	end := s[0]
	if end == '[' {
		end = ']'
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != end {
			b.WriteByte(s[i])
			continue
		}
		if end == ']' || i+1 == len(s) || s[i+1] != end {
			return b.String(), i + 1
		}
		b.WriteByte(end)
		i++
	}
	return b.String(), len(s)
}
