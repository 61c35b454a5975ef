package tracetest

// Everything is a trace with each kind of definition and event, and odd values, in text
// form.
const Everything = `
info format=otf2 version="3.0" creator="a b" machine=m description="line\n" path=x traceid=7 bytes=9
property "k 1" value="v"
clock resolution=1000 offset=-5 length=10 realtime=12
string 0 "" ref=4
string 1 "dup"
string 2 "dup"
node 0 root class=machine
node 1 n1 class=node parent=0 ref=17
process 0 "MPI Rank 0" node=1 ref=3
process 1 gpu kind=2 node=1 creator=0
region 0 MPI_Bcast
region 1 MPI_Bcast
region 2 "a b" role=40 paradigm=21 file=f.c line=1 end=2 description=d canonical=c
region 3 $2 canonical=none flags=1
group 0 kind=4 members=0,none
group 1 kind=5 members=0,1 flags=1
group 2 kind=6
comm 0 MPI_COMM_WORLD group=1
comm 1 MPI_COMM_SELF group=2 parent=0 flags=1
comm 2 "none" group=1 remote=2 inter=1
comm 3 "3" group=1
site 0 file=f.c line=12
context 0 region=0 site=0
context 1 region=2 parent=0
member 0 PAPI_TOT_CYC description=cycles type=1 mode=16 value=4 base=1 exponent=-3 unit=Hz
metric 0 members=0,0 occurrence=1 kind=2
metric 1 class=0 recorder=0 scope=3 scoperef=1
attribute 0 colour type=11
opaque 0 format=otf2 kind=99 bigendian=1 payload=00ff
location 0 "Master thread" process=0 events=3 offsets=-1:5,100:7:0.5
  1 ProgramBegin 3 18446744073709551615 -1
  1 Leave 0
  2 Enter 0 ; 3 CallingContextEnter "a b" context=1 unwind=2 attr=0:string:1 attr=0:double:2.5
  4 Enter 3 context=1 ; 5 Leave 3 ; 6 CallingContextLeave 2 context=1
  7 MpiIsend to=1 comm="none" tag=3 bytes=10 req=4 ; 8 MpiIsendComplete req=4 ; 9 MpiRecv from=none comm="3"
  9 MpiIrecv from=0 comm=SELF req=5 ; 9 MpiRequestCancelled req=6 comm=WORLD
  10 MpiCollectiveBegin ; 11 MpiCollectiveEnd Scatterv root=self sent=8 received=9
  12 MpiCollectiveEnd op=77 comm=none root=thisgroup
  13 NonBlockingCollectiveRequest req=8 ; 14 NonBlockingCollectiveComplete Allreduce root=3 req=8
  15 Metric 0 int64:-7 double:0.1 double:0x7ff8000000000001 uint64:18446744073709551615 99:5
  -3 Kind(250) 1 attr=none:uint8:1
  16 Enter 12345
location 1 stream process=1 kind=2
`
