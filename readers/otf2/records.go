package otf2

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"tracekit/trace"
)

// The tables below are the format: one record per line, with its number, its name and its
// fields in order.
//
//	Name!        the record has no length prefix
//	field:enc    enc is one of the encodings
//	field>Space  a reference into the space; the field "self" defines an identifier in it
//	{ … }        repeated as often as the field before says
//	|            what follows is absent in records of older versions

const eventTable = `
10 BufferFlush stop_time:f64
11 MeasurementOnOff measurement_mode:u8
12 Enter! region:c32>Region
13 Leave! region:c32>Region
14 MpiSend receiver:c32 communicator:c32>Comm msg_tag:c32 msg_length:c64
15 MpiIsend receiver:c32 communicator:c32>Comm msg_tag:c32 msg_length:c64 request_id:c64
16 MpiIsendComplete! request_id:c64
17 MpiIrecvRequest! request_id:c64
18 MpiRecv sender:c32 communicator:c32>Comm msg_tag:c32 msg_length:c64
19 MpiIrecv sender:c32 communicator:c32>Comm msg_tag:c32 msg_length:c64 request_id:c64
20 MpiRequestTest! request_id:c64
21 MpiRequestCancelled! request_id:c64
22 MpiCollectiveBegin
23 MpiCollectiveEnd collective_op:u8 communicator:c32>Comm root:c32 size_sent:c64 size_received:c64
24 OmpFork! number_of_requested_threads:c32
25 OmpJoin
26 OmpAcquireLock lock_id:c32 acquisition_order:c32
27 OmpReleaseLock lock_id:c32 acquisition_order:c32
28 OmpTaskCreate! task_id:c64
29 OmpTaskSwitch! task_id:c64
30 OmpTaskComplete! task_id:c64
31 Metric metric:c32>Metric number_of_metrics:u8 { type_ids:u8 metric_values:c64 }
32 ParameterString parameter:c32>Parameter string:c32>String
33 ParameterInt parameter:c32>Parameter value:ci64
34 ParameterUnsignedInt parameter:c32>Parameter value:c64
35 RmaWinCreate win:c32>RmaWin
36 RmaWinDestroy win:c32>RmaWin
37 RmaCollectiveBegin
38 RmaCollectiveEnd collective_op:u8 sync_level:c32 win:c32>RmaWin root:c32 bytes_sent:c64 bytes_received:c64
39 RmaGroupSync sync_level:c32 win:c32>RmaWin group:c32>Group
40 RmaRequestLock win:c32>RmaWin remote:c32 lock_id:c64 lock_type:u8
41 RmaAcquireLock win:c32>RmaWin remote:c32 lock_id:c64 lock_type:u8
42 RmaTryLock win:c32>RmaWin remote:c32 lock_id:c64 lock_type:u8
43 RmaReleaseLock win:c32>RmaWin remote:c32 lock_id:c64
44 RmaSync win:c32>RmaWin remote:c32 sync_type:u8
45 RmaWaitChange win:c32>RmaWin
46 RmaPut win:c32>RmaWin remote:c32 bytes:c64 matching_id:c64
47 RmaGet win:c32>RmaWin remote:c32 bytes:c64 matching_id:c64
48 RmaAtomic win:c32>RmaWin remote:c32 type:u8 bytes_sent:c64 bytes_received:c64 matching_id:c64
49 RmaOpCompleteBlocking win:c32>RmaWin matching_id:c64
50 RmaOpCompleteNonBlocking win:c32>RmaWin matching_id:c64
51 RmaOpTest win:c32>RmaWin matching_id:c64
52 RmaOpCompleteRemote win:c32>RmaWin matching_id:c64
53 ThreadFork model:u8 number_of_requested_threads:c32
54 ThreadJoin model:u8
55 ThreadTeamBegin thread_team:c32>Comm
56 ThreadTeamEnd thread_team:c32>Comm
57 ThreadAcquireLock model:u8 lock_id:c32 acquisition_order:c32
58 ThreadReleaseLock model:u8 lock_id:c32 acquisition_order:c32
59 ThreadTaskCreate thread_team:c32>Comm creating_thread:c32 generation_number:c32
60 ThreadTaskSwitch thread_team:c32>Comm creating_thread:c32 generation_number:c32
61 ThreadTaskComplete thread_team:c32>Comm creating_thread:c32 generation_number:c32
62 ThreadCreate thread_contingent:c32>Comm sequence_count:c64
63 ThreadBegin thread_contingent:c32>Comm sequence_count:c64
64 ThreadWait thread_contingent:c32>Comm sequence_count:c64
65 ThreadEnd thread_contingent:c32>Comm sequence_count:c64
66 CallingContextEnter calling_context:c32>CallingContext unwind_distance:c32
67 CallingContextLeave calling_context:c32>CallingContext
68 CallingContextSample calling_context:c32>CallingContext unwind_distance:c32 interrupt_generator:c32>InterruptGenerator
69 IoCreateHandle handle:c32>IoHandle mode:u8 creation_flags:c32 status_flags:c32
70 IoDestroyHandle handle:c32>IoHandle
71 IoDuplicateHandle old_handle:c32>IoHandle new_handle:c32>IoHandle status_flags:c32
72 IoSeek handle:c32>IoHandle offset_request:ci64 whence:u8 offset_result:c64
73 IoChangeStatusFlags handle:c32>IoHandle status_flags:c32
74 IoDeleteFile io_paradigm:u8>IoParadigm file:c32>IoFile
75 IoOperationBegin handle:c32>IoHandle mode:u8 operation_flags:c32 bytes_request:c64 matching_id:c64
76 IoOperationTest handle:c32>IoHandle matching_id:c64
77 IoOperationIssued handle:c32>IoHandle matching_id:c64
78 IoOperationComplete handle:c32>IoHandle bytes_result:c64 matching_id:c64
79 IoOperationCancelled handle:c32>IoHandle matching_id:c64
80 IoAcquireLock handle:c32>IoHandle lock_type:u8
81 IoReleaseLock handle:c32>IoHandle lock_type:u8
82 IoTryLock handle:c32>IoHandle lock_type:u8
83 ProgramBegin program_name:c32>String number_of_arguments:c32 { program_arguments:c32>String }
84 ProgramEnd exit_status:ci64
85 NonBlockingCollectiveRequest request_id:c64
86 NonBlockingCollectiveComplete collective_op:u8 communicator:c32>Comm root:c32 size_sent:c64 size_received:c64 request_id:c64
87 CommCreate communicator:c32>Comm
88 CommDestroy communicator:c32>Comm
`

// Definitions of the global file, and of local files but for the first five.
const definitionTable = `
5 ClockProperties timer_resolution:c64 global_offset:c64 trace_length:c64 | realtime_timestamp:c64
6 Paradigm paradigm:u8 name:c32>String paradigm_class:u8
7 ParadigmProperty paradigm:u8 property:u8 type:u8 value:attrval
8 IoParadigm self:u8>IoParadigm identification:c32>String name:c32>String io_paradigm_class:u8 io_paradigm_flags:c32 number_of_properties:u8 { properties:u8 types:u8 values:attrval }
10 String self:c32>String string:cstr
11 Attribute self:c32>Attribute name:c32>String type:u8 | description:c32>String
12 SystemTreeNode self:c32>SystemTreeNode name:c32>String class_name:c32>String parent:c32>SystemTreeNode
13 LocationGroup self:c32>LocationGroup name:c32>String location_group_type:u8 system_tree_parent:c32>SystemTreeNode | creating_location_group:c32>LocationGroup
14 Location self:c64>Location name:c32>String location_type:u8 number_of_events:c64 location_group:c32>LocationGroup
15 Region self:c32>Region name:c32>String description:c32>String region_type:u8 source_file:c32>String begin_line_number:c32 end_line_number:c32 | canonical_name:c32>String region_role:u8 paradigm:u8 region_flags:c32
16 Callsite self:c32>Callsite source_file:c32>String line_number:c32 entered_region:c32>Region left_region:c32>Region
17 Callpath self:c32>Callpath parent:c32>Callpath region:c32>Region
18 Group self:c32>Group name:c32>String group_type_pre12:u8 number_of_members:c32 { members:c64 } | group_type:u8 paradigm:u8 group_flags:c32
19 MetricMember self:c32>MetricMember name:c32>String description:c32>String metric_type:u8 metric_mode:u8 value_type:u8 base:u8 exponent:ci64 unit:c32>String
20 MetricClass self:c32>Metric number_of_metrics:u8 { metric_members:c32>MetricMember } metric_occurrence:u8 | recorder_kind:u8
21 MetricInstance self:c32>Metric metric_class:c32>Metric recorder:c64>Location metric_scope:u8 scope:c64
22 Comm self:c32>Comm name:c32>String group:c32>Group parent:c32>Comm | flags:c32
23 Parameter self:c32>Parameter name:c32>String parameter_type:u8
24 RmaWin self:c32>RmaWin name:c32>String comm:c32>Comm | flags:c32
25 MetricClassRecorder metric:c32>Metric recorder:c64>Location
26 SystemTreeNodeProperty system_tree_node:c32>SystemTreeNode name:c32>String string_value:c32>String | type:u8 value:attrval
27 SystemTreeNodeDomain system_tree_node:c32>SystemTreeNode system_tree_domain:u8
28 LocationGroupProperty location_group:c32>LocationGroup name:c32>String string_value:c32>String | type:u8 value:attrval
29 LocationProperty location:c64>Location name:c32>String string_value:c32>String | type:u8 value:attrval
30 CartDimension self:c32>CartDimension name:c32>String size:c32 cart_periodicity:u8
31 CartTopology self:c32>CartTopology name:c32>String communicator:c32>Comm number_of_dimensions:u8 { cart_dimensions:c32>CartDimension }
32 CartCoordinate cart_topology:c32>CartTopology rank:c32 number_of_dimensions:u8 { coordinates:c32 }
33 SourceCodeLocation self:c32>SourceCodeLocation file:c32>String line_number:c32
34 CallingContext self:c32>CallingContext region:c32>Region source_code_location:c32>SourceCodeLocation parent:c32>CallingContext
35 CallingContextProperty calling_context:c32>CallingContext name:c32>String type:u8 value:attrval
36 InterruptGenerator self:c32>InterruptGenerator name:c32>String interrupt_generator_mode:u8 base:u8 exponent:ci64 period:c64
37 IoFileProperty io_file:c32>IoFile name:c32>String type:u8 value:attrval
38 IoRegularFile self:c32>IoFile name:c32>String scope:c32>SystemTreeNode
39 IoDirectory self:c32>IoFile name:c32>String scope:c32>SystemTreeNode
40 IoHandle self:c32>IoHandle name:c32>String file:c32>IoFile io_paradigm:u8>IoParadigm io_handle_flags:c32 comm:c32>Comm parent:c32>IoHandle
41 IoPreCreatedHandleState io_handle:c32>IoHandle mode:u8 status_flags:c32
42 CallpathParameter callpath:c32>Callpath parameter:c32>Parameter type:u8 value:attrval
43 InterComm self:c32>Comm name:c32>String group_a:c32>Group group_b:c32>Group common_communicator:c32>Comm flags:c32
`

const localTable = `
5 MappingTable mapping_type:u8 id_map:idmap
6 ClockOffset time:f64 offset:ci64 standard_deviation:double
`

const snapshotTable = `
10 SnapshotStart number_of_records:c64
11 SnapshotEnd cont_read_pos:c64
12 MeasurementOnOff orig_event_time:f64 measurement_mode:u8
13 Enter orig_event_time:f64 region:c32
14 MpiSend orig_event_time:f64 receiver:c32 communicator:c32 msg_tag:c32 msg_length:c64
15 MpiIsend orig_event_time:f64 receiver:c32 communicator:c32 msg_tag:c32 msg_length:c64 request_id:c64
16 MpiIsendComplete orig_event_time:f64 request_id:c64
17 MpiRecv orig_event_time:f64 sender:c32 communicator:c32 msg_tag:c32 msg_length:c64
18 MpiIrecvRequest orig_event_time:f64 request_id:c64
19 MpiIrecv orig_event_time:f64 sender:c32 communicator:c32 msg_tag:c32 msg_length:c64 request_id:c64
20 MpiCollectiveBegin orig_event_time:f64
21 MpiCollectiveEnd orig_event_time:f64 collective_op:u8 communicator:c32 root:c32 size_sent:c64 size_received:c64
22 OmpFork orig_event_time:f64 number_of_requested_threads:c32
23 OmpAcquireLock orig_event_time:f64 lock_id:c32 acquisition_order:c32
24 OmpTaskCreate orig_event_time:f64 task_id:c64
25 OmpTaskSwitch orig_event_time:f64 task_id:c64
26 Metric orig_event_time:f64 metric:c32 number_of_metrics:u8 { type_ids:u8 metric_values:c64 }
27 ParameterString orig_event_time:f64 parameter:c32 string:c32
28 ParameterInt orig_event_time:f64 parameter:c32 value:ci64
29 ParameterUnsignedInt orig_event_time:f64 parameter:c32 value:c64
`

const markerTable = `
5 DefMarker self:c32 group:cstr category:cstr severity:u8
6 Marker time:c64 duration:c64 marker:c32 scope:u8 scope_ref:c64 text:cstr
`

const thumbnailTable = `
10 Header name:cstr description:cstr type:u8 samples:c32 metrics:c32 { refs:c64 }
11 Sample baseline:c64 count:c32 { values:c64 }
`

// The parsed tables; nothing changes them. Each is parsed when it is first wanted.
var (
	eventRecords      = tableOf(eventTable)
	definitionRecords = tableOf(definitionTable)
	localRecords      = tableOf(localTable + definitionTable[strings.Index(definitionTable, "\n10 "):])
	snapshotRecords   = tableOf(snapshotTable)
	markerRecords     = tableOf(markerTable)
	thumbnailRecords  = tableOf(thumbnailTable)
)

// A recordTable describes the records of one kind of file by their number; a record
// without a name is not known.
type recordTable [256]recordLayout

type recordLayout struct {
	name     string
	fields   []field
	noLength bool
	numbers  []number // the fields, if the record has only u8, c32 and c64 ones
	refs     []fieldRef
}

// A number is a field of at most size bytes: 1, 4 or 8.
type number struct {
	size  uint8
	space space // of which a mapping table may change it; noSpace: of none
}

// A fieldRef is a field that refers to a definition of a space, or a group whose first member does.
type fieldRef struct {
	field int
	space space
	group bool
}

// A field is one field of a record. A repeated group is a field with enc == encGroup
// whose members are in group.
type field struct {
	name     string
	enc      encoding
	space    space // noSpace: no reference
	self     bool  // defines an identifier in space
	optional bool  // absent in records of older versions
	group    []field
}

// A space is a set of definitions that share identifiers. The first are OTF2's
// MappingType, in its numbers.
type space uint8

const (
	spaceString space = iota
	spaceAttribute
	spaceLocation
	spaceRegion
	spaceGroup
	spaceMetric
	spaceComm
	spaceParameter
	spaceRmaWin
	spaceSourceLocation
	spaceCallingContext
	spaceInterruptGenerator
	spaceIoFile
	spaceIoHandle
	spaceLocationGroup
	mappingTypes        // the spaces before have mapping tables
	spaceSystemTreeNode = iota - 1
	spaceMetricMember
	spaceCallsite
	spaceCallpath
	spaceCartDimension
	spaceCartTopology
	spaceIoParadigm
	spaces  // their number
	noSpace = 255
)

var spaceNames = [spaces]string{"String", "Attribute", "Location", "Region", "Group", "Metric", "Comm",
	"Parameter", "RmaWin", "SourceCodeLocation", "CallingContext", "InterruptGenerator", "IoFile",
	"IoHandle", "LocationGroup", "SystemTreeNode", "MetricMember", "Callsite", "Callpath",
	"CartDimension", "CartTopology", "IoParadigm"}

func tableOf(text string) func() *recordTable {
	return sync.OnceValue(func() *recordTable { return parseTable(text) })
}

// parseTable reads one of the tables above.
func parseTable(text string) *recordTable {
	t := new(recordTable)
	for line := range strings.Lines(strings.TrimSpace(text)) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		id, err := strconv.Atoi(words[0])
		if err != nil {
			panic(err)
		}
		name, noLength := strings.CutSuffix(words[1], "!")
		fields, _ := parseFields(words[2:])
		t[id] = recordLayout{name: name, noLength: noLength, fields: fields, numbers: numbersOf(fields), refs: fieldRefs(fields)}
	}
	return t
}

// fieldRefs returns the fields whose values a location's mapping tables may change.
func fieldRefs(fields []field) (refs []fieldRef) {
	for i, f := range fields {
		group := f.enc == encGroup
		if group {
			f = f.group[0]
		}
		if f.space < mappingTypes {
			refs = append(refs, fieldRef{i, f.space, group})
		}
	}
	return refs
}

// numbersOf returns fields that are numbers, nil if there are fields of other kinds.
func numbersOf(fields []field) []number {
	numbers := make([]number, len(fields))
	for i, f := range fields {
		switch {
		case f.optional:
			return nil
		case f.enc == encU8:
			numbers[i].size = 1
		case f.enc == encC32:
			numbers[i].size = 4
		case f.enc == encC64 || f.enc == encCI64:
			numbers[i].size = 8
		default:
			return nil
		}
		if numbers[i].space = f.space; f.space >= mappingTypes {
			numbers[i].space = noSpace
		}
	}
	return numbers
}

// parseFields reads fields up to the end of a group and returns the words after it.
func parseFields(words []string) (fields []field, rest []string) {
	optional := false
	for len(words) > 0 {
		w := words[0]
		words = words[1:]
		switch w {
		case "}":
			return fields, words
		case "|":
			optional = true
		case "{":
			f := field{enc: encGroup, space: noSpace, optional: optional}
			f.group, words = parseFields(words)
			fields = append(fields, f)
		default:
			f := parseField(w)
			f.optional = optional
			fields = append(fields, f)
		}
	}
	return fields, nil
}

func parseField(word string) field {
	name, enc, _ := strings.Cut(word, ":")
	enc, spaceName, _ := strings.Cut(enc, ">")
	return field{name: name, enc: encodingOf(enc), space: spaceOf(spaceName), self: name == "self"}
}

func spaceOf(name string) space {
	for i, s := range spaceNames {
		if s == name {
			return space(i)
		}
	}
	if name != "" {
		panic(fmt.Sprintf("no space %q", name))
	}
	return noSpace
}

// recordName returns the name of a record for messages.
func (t *recordTable) recordName(id uint8) string {
	if n := t[id].name; n != "" {
		return n
	}
	return fmt.Sprintf("record %d", id)
}

// hasNoLength reports whether an event kind has no length prefix.
func hasNoLength(k trace.Kind) bool { return eventRecords()[k].noLength }
