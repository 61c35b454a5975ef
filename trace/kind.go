package trace

import "fmt"

// A Kind is the kind of an event. The numbers are those of OTF2's event records, so
// that every event of the richest format has a kind; kinds above 200 are our own.
type Kind uint8

// The kinds that analyses use. All kinds have a name; see Kind.String.
const (
	KindUnknown                       Kind = 0 // a record that the format's description does not know
	KindBufferFlush                   Kind = 10
	KindMeasurementOnOff              Kind = 11
	KindEnter                         Kind = 12
	KindLeave                         Kind = 13
	KindMpiSend                       Kind = 14
	KindMpiIsend                      Kind = 15
	KindMpiIsendComplete              Kind = 16
	KindMpiIrecvRequest               Kind = 17
	KindMpiRecv                       Kind = 18
	KindMpiIrecv                      Kind = 19
	KindMpiRequestTest                Kind = 20
	KindMpiRequestCancelled           Kind = 21
	KindCollectiveBegin               Kind = 22
	KindCollectiveEnd                 Kind = 23
	KindOmpFork                       Kind = 24
	KindOmpJoin                       Kind = 25
	KindMetric                        Kind = 31
	KindParameterString               Kind = 32
	KindParameterInt                  Kind = 33
	KindParameterUint                 Kind = 34
	KindRmaCollectiveBegin            Kind = 37
	KindRmaCollectiveEnd              Kind = 38
	KindThreadFork                    Kind = 53
	KindThreadJoin                    Kind = 54
	KindThreadTeamBegin               Kind = 55
	KindThreadTeamEnd                 Kind = 56
	KindThreadCreate                  Kind = 62
	KindThreadBegin                   Kind = 63
	KindThreadWait                    Kind = 64
	KindThreadEnd                     Kind = 65
	KindCallingContextEnter           Kind = 66
	KindCallingContextLeave           Kind = 67
	KindCallingContextSample          Kind = 68
	KindIoOperationBegin              Kind = 75
	KindIoOperationComplete           Kind = 78
	KindProgramBegin                  Kind = 83
	KindProgramEnd                    Kind = 84
	KindNonBlockingCollectiveRequest  Kind = 85
	KindNonBlockingCollectiveComplete Kind = 86
	KindCommCreate                    Kind = 87
	KindCommDestroy                   Kind = 88
	KindInstant                       Kind = 200 // a named moment; its argument is a StringID
)

var kindNames = [256]string{
	0: "Unknown", 10: "BufferFlush", 11: "MeasurementOnOff", 12: "Enter", 13: "Leave",
	14: "MpiSend", 15: "MpiIsend", 16: "MpiIsendComplete", 17: "MpiIrecvRequest", 18: "MpiRecv",
	19: "MpiIrecv", 20: "MpiRequestTest", 21: "MpiRequestCancelled", 22: "MpiCollectiveBegin",
	23: "MpiCollectiveEnd", 24: "OmpFork", 25: "OmpJoin", 26: "OmpAcquireLock", 27: "OmpReleaseLock",
	28: "OmpTaskCreate", 29: "OmpTaskSwitch", 30: "OmpTaskComplete", 31: "Metric",
	32: "ParameterString", 33: "ParameterInt", 34: "ParameterUnsignedInt", 35: "RmaWinCreate",
	36: "RmaWinDestroy", 37: "RmaCollectiveBegin", 38: "RmaCollectiveEnd", 39: "RmaGroupSync",
	40: "RmaRequestLock", 41: "RmaAcquireLock", 42: "RmaTryLock", 43: "RmaReleaseLock", 44: "RmaSync",
	45: "RmaWaitChange", 46: "RmaPut", 47: "RmaGet", 48: "RmaAtomic", 49: "RmaOpCompleteBlocking",
	50: "RmaOpCompleteNonBlocking", 51: "RmaOpTest", 52: "RmaOpCompleteRemote", 53: "ThreadFork",
	54: "ThreadJoin", 55: "ThreadTeamBegin", 56: "ThreadTeamEnd", 57: "ThreadAcquireLock",
	58: "ThreadReleaseLock", 59: "ThreadTaskCreate", 60: "ThreadTaskSwitch", 61: "ThreadTaskComplete",
	62: "ThreadCreate", 63: "ThreadBegin", 64: "ThreadWait", 65: "ThreadEnd",
	66: "CallingContextEnter", 67: "CallingContextLeave", 68: "CallingContextSample",
	69: "IoCreateHandle", 70: "IoDestroyHandle", 71: "IoDuplicateHandle", 72: "IoSeek",
	73: "IoChangeStatusFlags", 74: "IoDeleteFile", 75: "IoOperationBegin", 76: "IoOperationTest",
	77: "IoOperationIssued", 78: "IoOperationComplete", 79: "IoOperationCancelled",
	80: "IoAcquireLock", 81: "IoReleaseLock", 82: "IoTryLock", 83: "ProgramBegin", 84: "ProgramEnd",
	85: "NonBlockingCollectiveRequest", 86: "NonBlockingCollectiveComplete", 87: "CommCreate",
	88: "CommDestroy", 200: "Instant",
}

// String returns the name that OTF2 gives the record, or "Kind(n)".
func (k Kind) String() string {
	if s := kindNames[k]; s != "" {
		return s
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// KindByName returns the kind of that name; ok is false if there is none.
func KindByName(name string) (k Kind, ok bool) {
	for i, s := range kindNames {
		if s == name && s != "" {
			return Kind(i), true
		}
	}
	return 0, false
}

// Table returns the table of a Batch that holds events of this kind.
func (k Kind) Table() TableID {
	switch {
	case k == KindEnter || k == KindLeave || k == KindCallingContextEnter || k == KindCallingContextLeave:
		return TableFlow
	case k >= KindMpiSend && k <= KindMpiRequestCancelled:
		return TableP2P
	case k == KindCollectiveBegin || k == KindCollectiveEnd ||
		k == KindNonBlockingCollectiveRequest || k == KindNonBlockingCollectiveComplete:
		return TableColl
	case k == KindMetric:
		return TableMetric
	}
	return TableOther
}

// Enters reports whether the kind opens a region.
func (k Kind) Enters() bool { return k == KindEnter || k == KindCallingContextEnter }

// StartsRequest reports whether events of the kind start a request.
func (k Kind) StartsRequest() bool {
	return k == KindMpiIsend || k == KindMpiIrecvRequest || k == KindNonBlockingCollectiveRequest
}

// UsesRequest reports whether events of the kind complete, cancel or test a request that was started before.
func (k Kind) UsesRequest() bool {
	switch k {
	case KindMpiIsendComplete, KindMpiIrecv, KindMpiRequestTest, KindMpiRequestCancelled, KindNonBlockingCollectiveComplete:
		return true
	}
	return false
}
