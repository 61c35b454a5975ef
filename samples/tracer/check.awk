# check.awk: checks a listing of otf2-print and sums it up in one line.
#
# Enter and Leave nest in each location; time never runs back in a location;
# each request that is posted ends in a completion or a cancellation; sends and
# receives agree in number and bytes for each (communicator, sender, receiver,
# tag); every member that begins a collective ends it. What does not fit is
# printed; `lost` and `cancelled` are allowed differences and only counted.

# value returns the number in angle brackets after a name: "Region: "x" <7>".
function value(name,   s) {
    s = $0
    if (!sub(".*" name, "", s)) return -1
    sub(/^[^<]*</, "", s)
    return s + 0
}
# plain returns the number right after a name: "Tag: 7".
function plain(name,   s) {
    s = $0
    if (!sub(".*" name, "", s)) return -1
    return s + 0
}
function complain(text) { print "  " where " event " NR ": " text; bad++ }
function channel(from, to) { return value("Communicator: ") " " from " " to " " plain("Tag: ") }

/^[A-Z_]+ +[0-9]+ +[0-9]+/ {
    events++
    kind[$1]++
    where = "location " $2
    if ($3 < last[$2]) complain("time runs back")
    last[$2] = $3
}
/^(CALLING_CONTEXT_)?ENTER / { stack[$2, ++depth[$2]] = value($1 ~ /^C/ ? "Calling Context: " : "Region: ") }
/^(CALLING_CONTEXT_)?LEAVE / {
    if (depth[$2] < 1) complain("Leave without Enter")
    else if (stack[$2, depth[$2]--] != value($1 ~ /^C/ ? "Calling Context: " : "Region: "))
        complain("Leave of another region")
}
/^MPI_I?SEND /  { c = channel($2, value("Receiver: ")); sent[c]++; bytes[c] += plain("Length: "); seen[c] }
/^MPI_I?RECV /  { c = channel(value("Sender: "), $2); got[c]++; bytes[c] -= plain("Length: "); seen[c] }
/^(MPI_ISEND|MPI_IRECV_REQUEST|NON_BLOCKING_COLLECTIVE_REQUEST) / {
    r = $2 " " plain("Request: ")
    if (open[r]++) complain("request posted twice")
}
/^(MPI_ISEND_COMPLETE|MPI_IRECV|MPI_REQUEST_CANCELLED|NON_BLOCKING_COLLECTIVE_COMPLETE) / {
    r = $2 " " plain("Request: ")
    if (!open[r]) complain("completion without request")
    delete open[r]
}
/^MPI_COLLECTIVE_BEGIN / { inside[$2]++ }
/^MPI_COLLECTIVE_END /   { inside[$2]-- }

END {
    for (l in depth) if (depth[l]) { where = "location " l; complain(depth[l] " regions left open") }
    for (l in inside) if (inside[l]) { where = "location " l; complain("collective left open") }
    for (r in open) { where = "location " r; complain("request never completed") }
    for (c in seen) {
        if (sent[c] > got[c]) lost += sent[c] - got[c]
        else if (sent[c] < got[c] || bytes[c]) { where = "channel " c; complain("receives without sends") }
    }
    printf "%s: %d events; enter %d, send %d, receive %d, collective ends %d (non-blocking %d), tests %d; lost %d, cancelled %d; %s\n",
        name, events, kind["ENTER"] + kind["CALLING_CONTEXT_ENTER"], kind["MPI_SEND"] + kind["MPI_ISEND"],
        kind["MPI_RECV"] + kind["MPI_IRECV"], kind["MPI_COLLECTIVE_END"],
        kind["NON_BLOCKING_COLLECTIVE_COMPLETE"], kind["MPI_REQUEST_TEST"], lost, kind["MPI_REQUEST_CANCELLED"],
        bad ? bad " COMPLAINTS" : "sound"
    exit bad > 0
}
