package test

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestPartThatFails states that a part of the page whose data are not what they should be says so, and that the others are shown.
func TestPartThatFails(t *testing.T) {
	dir := t.TempDir()
	succeed(t, dir, "generate", "halo", "--ranks", "4", "--iterations", "20", "--imbalance", "20000", "-o", "halo")
	succeed(t, dir, "report", "halo", "-o", "halo.html")
	name := filepath.Join(dir, "halo.html")
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	at := regexp.MustCompile(`id="document"[^>]*>([^<]*)<`).FindSubmatchIndex(page)
	packed, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(page[at[2]:at[3]])))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	broken := bytes.Replace(doc, []byte(`"profile":[`), []byte(`"profile":7,"other":[`), 1)
	var again bytes.Buffer
	w, _ := flate.NewWriter(&again, flate.BestSpeed)
	w.Write(broken)
	w.Close()
	writeFile(t, name, string(page[:at[2]])+base64.StdEncoding.EncodeToString(again.Bytes())+string(page[at[3]:]))

	b := browse(t, "file://"+name)
	b.tab("tab=profile")
	b.until(`/part cannot be shown/.test(document.querySelector("#panel [role=alert]")?.innerText)`, "true")
	b.until(`document.querySelectorAll(".scroller canvas").length > 0`, "true")
	b.tab("tab=waits")
	b.until(`document.querySelector("#panel caption")?.innerText`, "Wait states")
}
