/* p2p.c: sends, receives and probes. A send is recorded before the call into
 * MPI, a receive after it; messages to and from MPI_PROC_NULL are none. */
#include "otf2pmpi.h"

uint64_t tk_bytes(int count, MPI_Datatype type)
{
    int size = 0;
    if (count > 0 && type != MPI_DATATYPE_NULL) PMPI_Type_size(type, &size);
    return (uint64_t)count * (uint64_t)size;
}

uint64_t tk_received(const MPI_Status *s)
{
    int n;
    PMPI_Get_count(s, MPI_BYTE, &n);
    return n == MPI_UNDEFINED ? 0 : (uint64_t)n;
}

static void sent(int dest, MPI_Comm comm, int tag, int count, MPI_Datatype type)
{
    if (dest == MPI_PROC_NULL) return;
    TK_EVENT(MpiSend, (uint32_t)dest, tk_comm_id(comm), (uint32_t)tag, tk_bytes(count, type));
}

static void received(uint32_t comm, const MPI_Status *s)
{
    if (s->MPI_SOURCE == MPI_PROC_NULL) return;
    TK_EVENT(MpiRecv, (uint32_t)s->MPI_SOURCE, comm, (uint32_t)s->MPI_TAG, tk_received(s));
}

#define SEND(fn)                                                               \
    int MPI_##fn(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) \
    {                                                                          \
        TK_ENTER("MPI_" #fn, POINT2POINT);                                     \
        if (on_) sent(dest, comm, tag, count, type);                           \
        int rc = PMPI_##fn(buf, count, type, dest, tag, comm);                 \
        TK_LEAVE();                                                            \
        return rc;                                                             \
    }
SEND(Send)
SEND(Bsend)
SEND(Ssend)
SEND(Rsend)

int MPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    TK_ENTER("MPI_Recv", POINT2POINT);
    MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
    int rc = PMPI_Recv(buf, count, type, source, tag, comm, s);
    if (on_ && rc == MPI_SUCCESS) received(tk_comm_id(comm), s);
    TK_LEAVE();
    return rc;
}

int MPI_Sendrecv(const void *sbuf, int scount, MPI_Datatype stype, int dest, int stag, void *rbuf,
                 int rcount, MPI_Datatype rtype, int source, int rtag, MPI_Comm comm,
                 MPI_Status *status)
{
    TK_ENTER("MPI_Sendrecv", POINT2POINT);
    MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
    if (on_) sent(dest, comm, stag, scount, stype);
    int rc = PMPI_Sendrecv(sbuf, scount, stype, dest, stag, rbuf, rcount, rtype, source, rtag, comm, s);
    if (on_ && rc == MPI_SUCCESS) received(tk_comm_id(comm), s);
    TK_LEAVE();
    return rc;
}

int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype type, int dest, int stag, int source,
                         int rtag, MPI_Comm comm, MPI_Status *status)
{
    TK_ENTER("MPI_Sendrecv_replace", POINT2POINT);
    MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
    if (on_) sent(dest, comm, stag, count, type);
    int rc = PMPI_Sendrecv_replace(buf, count, type, dest, stag, source, rtag, comm, s);
    if (on_ && rc == MPI_SUCCESS) received(tk_comm_id(comm), s);
    TK_LEAVE();
    return rc;
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    TK_ENTER("MPI_Probe", POINT2POINT);
    int rc = PMPI_Probe(source, tag, comm, status);
    TK_LEAVE();
    return rc;
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    TK_ENTER("MPI_Iprobe", POINT2POINT);
    int rc = PMPI_Iprobe(source, tag, comm, flag, status);
    TK_LEAVE();
    return rc;
}

/* --- matched probes: the message remembers its communicator --- */

enum { MATCHED = 64 };
static struct { MPI_Message message; uint32_t comm; } matched[MATCHED];

static void remember(MPI_Message m, MPI_Comm comm)
{
    if (m == MPI_MESSAGE_NULL || m == MPI_MESSAGE_NO_PROC) return;
    for (int i = 0; i < MATCHED; i++) {
        if (matched[i].message && matched[i].message != MPI_MESSAGE_NULL) continue;
        matched[i].message = m;
        matched[i].comm = tk_comm_id(comm);
        return;
    }
}

static uint32_t recall(MPI_Message m)
{
    for (int i = 0; i < MATCHED; i++) {
        if (matched[i].message != m) continue;
        matched[i].message = MPI_MESSAGE_NULL;
        return matched[i].comm;
    }
    return TK_NONE;
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    TK_ENTER("MPI_Mprobe", POINT2POINT);
    int rc = PMPI_Mprobe(source, tag, comm, message, status);
    if (on_ && rc == MPI_SUCCESS) remember(*message, comm);
    TK_LEAVE();
    return rc;
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                MPI_Status *status)
{
    TK_ENTER("MPI_Improbe", POINT2POINT);
    int rc = PMPI_Improbe(source, tag, comm, flag, message, status);
    if (on_ && rc == MPI_SUCCESS && *flag) remember(*message, comm);
    TK_LEAVE();
    return rc;
}

int MPI_Mrecv(void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status)
{
    TK_ENTER("MPI_Mrecv", POINT2POINT);
    MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
    uint32_t comm = on_ ? recall(*message) : TK_NONE;
    int rc = PMPI_Mrecv(buf, count, type, message, s);
    if (on_ && rc == MPI_SUCCESS) received(comm, s);
    TK_LEAVE();
    return rc;
}

int MPI_Imrecv(void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request)
{
    TK_ENTER("MPI_Imrecv", POINT2POINT);
    tk_request r = {.kind = TK_REQ_RECV, .active = 1};
    if (on_) {
        r.id = tk_request_id();
        r.comm = recall(*message);
        TK_EVENT(MpiIrecvRequest, r.id);
    }
    int rc = PMPI_Imrecv(buf, count, type, message, request);
    if (on_ && rc == MPI_SUCCESS) tk_request_add(r, request);
    TK_LEAVE();
    return rc;
}

/* --- non-blocking and persistent --- */

/* send_request describes a send; one to MPI_PROC_NULL is kept without records,
 * so that its handle is not taken for another's. */
static tk_request send_request(int dest, MPI_Comm comm, int tag, int count, MPI_Datatype type)
{
    tk_request r = {.kind = TK_REQ_NOTHING, .active = 1};
    if (dest == MPI_PROC_NULL) return r;
    r.kind = TK_REQ_SEND;
    r.id = tk_request_id();
    r.comm = tk_comm_id(comm);
    r.peer = (uint32_t)dest;
    r.tag = (uint32_t)tag;
    r.bytes = tk_bytes(count, type);
    return r;
}

static tk_request recv_request(int source, MPI_Comm comm)
{
    tk_request r = {.kind = TK_REQ_NOTHING, .active = 1};
    if (source == MPI_PROC_NULL) return r;
    r.kind = TK_REQ_RECV;
    r.id = tk_request_id();
    r.comm = tk_comm_id(comm);
    return r;
}

#define ISEND(fn)                                                              \
    int MPI_##fn(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, \
                 MPI_Request *request)                                         \
    {                                                                          \
        TK_ENTER("MPI_" #fn, POINT2POINT);                                     \
        tk_request r = {.kind = TK_REQ_NOTHING};                               \
        if (on_) r = send_request(dest, comm, tag, count, type);               \
        if (r.kind == TK_REQ_SEND) TK_EVENT(MpiIsend, r.peer, r.comm, r.tag, r.bytes, r.id); \
        int rc = PMPI_##fn(buf, count, type, dest, tag, comm, request);        \
        if (on_ && rc == MPI_SUCCESS) tk_request_add(r, request);              \
        TK_LEAVE();                                                            \
        return rc;                                                             \
    }
ISEND(Isend)
ISEND(Ibsend)
ISEND(Issend)
ISEND(Irsend)

int MPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    TK_ENTER("MPI_Irecv", POINT2POINT);
    tk_request r = {.kind = TK_REQ_NOTHING};
    if (on_) r = recv_request(source, comm);
    if (r.kind == TK_REQ_RECV) TK_EVENT(MpiIrecvRequest, r.id);
    int rc = PMPI_Irecv(buf, count, type, source, tag, comm, request);
    if (on_ && rc == MPI_SUCCESS) tk_request_add(r, request);
    TK_LEAVE();
    return rc;
}

/* A persistent request is inactive until MPI_Start; it keeps one id for life. */
static void add_persistent(tk_request r, MPI_Request *request)
{
    r.persistent = 1;
    r.active = 0;
    tk_request_add(r, request);
}

#define SEND_INIT(fn)                                                          \
    int MPI_##fn(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, \
                 MPI_Request *request)                                         \
    {                                                                          \
        TK_ENTER("MPI_" #fn, POINT2POINT);                                     \
        int rc = PMPI_##fn(buf, count, type, dest, tag, comm, request);        \
        if (on_ && rc == MPI_SUCCESS)                                          \
            add_persistent(send_request(dest, comm, tag, count, type), request); \
        TK_LEAVE();                                                            \
        return rc;                                                             \
    }
SEND_INIT(Send_init)
SEND_INIT(Bsend_init)
SEND_INIT(Ssend_init)
SEND_INIT(Rsend_init)

int MPI_Recv_init(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    TK_ENTER("MPI_Recv_init", POINT2POINT);
    int rc = PMPI_Recv_init(buf, count, type, source, tag, comm, request);
    if (on_ && rc == MPI_SUCCESS) add_persistent(recv_request(source, comm), request);
    TK_LEAVE();
    return rc;
}
