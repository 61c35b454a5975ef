/* colls.c: collectives. Bytes are counted as Score-P counts them: what a
 * process gives and gets if each pair of members exchanged its part directly. */
#include "otf2pmpi.h"

/* What the end of a collective records. */
typedef struct {
    uint32_t comm, root;
    uint64_t sent, received;
} coll;

/* Part of a member in an operation with a root. */
typedef struct {
    uint32_t comm, root;
    uint64_t size;              /* members that have a part of their own */
    int      is_root, takes_part;
} rooted;

static rooted at_root(MPI_Comm comm, int root)
{
    rooted r = {tk_comm_id(comm), (uint32_t)root, 0, 0, 1};
    if (r.comm == TK_NONE) return r;
    const tk_comm *c = &tk_comms[r.comm];
    r.size = (uint64_t)c->size;
    r.is_root = c->kind == TK_COMM_INTER ? root == MPI_ROOT : root == c->rank;
    if (c->kind != TK_COMM_INTER) return r;
    /* of the root's own group only the root takes part */
    r.takes_part = root != MPI_ROOT && root != MPI_PROC_NULL;
    if (root == MPI_ROOT) r.root = OTF2_COLLECTIVE_ROOT_SELF;
    if (root == MPI_PROC_NULL) r.root = OTF2_COLLECTIVE_ROOT_THIS_GROUP;
    return r;
}

/* everyone describes an operation without root; sums are per member. */
static coll everyone(MPI_Comm comm, uint64_t sent, uint64_t received)
{
    return (coll){tk_comm_id(comm), OTF2_COLLECTIVE_ROOT_NONE, sent, received};
}

static uint64_t size_of(MPI_Comm comm)
{
    uint32_t id = tk_comm_id(comm);
    return id == TK_NONE ? 0 : (uint64_t)tk_comms[id].size;
}

static uint64_t rank_of(MPI_Comm comm)
{
    uint32_t id = tk_comm_id(comm);
    return id == TK_NONE ? 0 : (uint64_t)tk_comms[id].rank;
}

/* sum adds up the counts of a vector operation. */
static uint64_t sum(const int counts[], MPI_Datatype type, MPI_Comm comm)
{
    uint64_t n = 0, members = size_of(comm);
    for (uint64_t i = 0; i < members; i++) n += tk_bytes(counts[i], type);
    return n;
}

static uint64_t sum_types(const int counts[], const MPI_Datatype types[], MPI_Comm comm)
{
    uint64_t n = 0, members = size_of(comm);
    for (uint64_t i = 0; i < members; i++) n += tk_bytes(counts[i], types[i]);
    return n;
}

/* from_root: Bcast and Scatter; all is what the root gives, part what one gets. */
static coll from_root(MPI_Comm comm, int root, uint64_t all, uint64_t part)
{
    rooted r = at_root(comm, root);
    return (coll){r.comm, r.root, r.is_root ? all : 0, r.takes_part ? part : 0};
}

/* to_root: Reduce and Gather. */
static coll to_root(MPI_Comm comm, int root, uint64_t part, uint64_t all)
{
    rooted r = at_root(comm, root);
    return (coll){r.comm, r.root, r.takes_part ? part : 0, r.is_root ? all : 0};
}

static int is_root(MPI_Comm comm, int root) { return at_root(comm, root).is_root; }

static coll bcast(uint64_t n, int root, MPI_Comm comm)
{
    return from_root(comm, root, n * size_of(comm), n);
}

static coll reduce(uint64_t n, int root, MPI_Comm comm)
{
    return to_root(comm, root, n, n * size_of(comm));
}

static coll gather(uint64_t own, uint64_t each, int root, MPI_Comm comm)
{
    return to_root(comm, root, own, each * size_of(comm));
}

static coll gatherv(uint64_t own, const int counts[], MPI_Datatype type, int root, MPI_Comm comm)
{
    return to_root(comm, root, own, is_root(comm, root) ? sum(counts, type, comm) : 0);
}

static coll scatter(uint64_t each, uint64_t own, int root, MPI_Comm comm)
{
    return from_root(comm, root, each * size_of(comm), own);
}

static coll scatterv(const int counts[], MPI_Datatype type, uint64_t own, int root, MPI_Comm comm)
{
    return from_root(comm, root, is_root(comm, root) ? sum(counts, type, comm) : 0, own);
}

static coll all_to_all(uint64_t out, uint64_t in, MPI_Comm comm)
{
    return everyone(comm, out * size_of(comm), in * size_of(comm));
}

static coll reduce_scatter(const int counts[], MPI_Datatype type, MPI_Comm comm)
{
    return everyone(comm, sum(counts, type, comm),
                    tk_bytes(counts[rank_of(comm)], type) * size_of(comm));
}

/* scan: a rank gives to those above it and gets from those below; own is 1 if
 * its own part counts (Scan), 0 if not (Exscan). */
static coll scan(uint64_t n, uint64_t own, MPI_Comm comm)
{
    uint64_t rank = rank_of(comm);
    return everyone(comm, n * (size_of(comm) - rank - 1 + own), n * (rank + own));
}

static uint64_t part(const void *buf, int count, MPI_Datatype type, int other, MPI_Datatype othertype)
{
    return buf == MPI_IN_PLACE ? tk_bytes(other, othertype) : tk_bytes(count, type);
}

static void end(OTF2_CollectiveOp op, coll c)
{
    TK_EVENT(MpiCollectiveEnd, op, c.comm, c.root, c.sent, c.received);
}

static tk_request posted(OTF2_CollectiveOp op, coll c)
{
    tk_request r = {.kind = TK_REQ_COLL, .active = 1, .id = tk_request_id(), .comm = c.comm,
                    .op = op, .root = c.root, .bytes = c.sent, .received = c.received};
    TK_EVENT(NonBlockingCollectiveRequest, r.id);
    return r;
}

#define LIST(...) __VA_ARGS__

/* COLLECTIVE makes both forms of an operation from its parameters, its
 * arguments, and the description of what it moves. */
#define COLLECTIVE(fn, ifn, OP, role, params, args, describe)                  \
    int MPI_##fn(LIST params)                                                  \
    {                                                                          \
        TK_ENTER("MPI_" #fn, role);                                            \
        if (on_) TK_EVENT(MpiCollectiveBegin);                                 \
        int rc = PMPI_##fn(LIST args);                                         \
        if (on_) end(OTF2_COLLECTIVE_OP_##OP, describe);                       \
        TK_LEAVE();                                                            \
        return rc;                                                             \
    }                                                                          \
    int MPI_##ifn(LIST params, MPI_Request *request)                           \
    {                                                                          \
        TK_ENTER("MPI_" #ifn, role);                                           \
        tk_request r = {.kind = TK_REQ_NOTHING};                               \
        if (on_) r = posted(OTF2_COLLECTIVE_OP_##OP, describe);                \
        int rc = PMPI_##ifn(LIST args, request);                               \
        if (on_ && rc == MPI_SUCCESS) tk_request_add(r, request);              \
        TK_LEAVE();                                                            \
        return rc;                                                             \
    }

COLLECTIVE(Barrier, Ibarrier, BARRIER, BARRIER, (MPI_Comm comm), (comm), everyone(comm, 0, 0))

COLLECTIVE(Bcast, Ibcast, BCAST, COLL_ONE2ALL,
           (void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm),
           (buf, n, type, root, comm), bcast(tk_bytes(n, type), root, comm))

COLLECTIVE(Gather, Igather, GATHER, COLL_ALL2ONE,
           (const void *sbuf, int sn, MPI_Datatype stype, void *rbuf, int rn, MPI_Datatype rtype,
            int root, MPI_Comm comm),
           (sbuf, sn, stype, rbuf, rn, rtype, root, comm),
           gather(part(sbuf, sn, stype, rn, rtype), is_root(comm, root) ? tk_bytes(rn, rtype) : 0,
                  root, comm))

COLLECTIVE(Gatherv, Igatherv, GATHERV, COLL_ALL2ONE,
           (const void *sbuf, int sn, MPI_Datatype stype, void *rbuf, const int rns[],
            const int displs[], MPI_Datatype rtype, int root, MPI_Comm comm),
           (sbuf, sn, stype, rbuf, rns, displs, rtype, root, comm),
           gatherv(sbuf == MPI_IN_PLACE ? tk_bytes(rns[rank_of(comm)], rtype) : tk_bytes(sn, stype),
                   rns, rtype, root, comm))

COLLECTIVE(Scatter, Iscatter, SCATTER, COLL_ONE2ALL,
           (const void *sbuf, int sn, MPI_Datatype stype, void *rbuf, int rn, MPI_Datatype rtype,
            int root, MPI_Comm comm),
           (sbuf, sn, stype, rbuf, rn, rtype, root, comm),
           scatter(is_root(comm, root) ? tk_bytes(sn, stype) : 0, part(rbuf, rn, rtype, sn, stype),
                   root, comm))

COLLECTIVE(Scatterv, Iscatterv, SCATTERV, COLL_ONE2ALL,
           (const void *sbuf, const int sns[], const int displs[], MPI_Datatype stype, void *rbuf,
            int rn, MPI_Datatype rtype, int root, MPI_Comm comm),
           (sbuf, sns, displs, stype, rbuf, rn, rtype, root, comm),
           scatterv(sns, stype,
                    rbuf == MPI_IN_PLACE ? tk_bytes(sns[rank_of(comm)], stype) : tk_bytes(rn, rtype),
                    root, comm))

COLLECTIVE(Allgather, Iallgather, ALLGATHER, COLL_ALL2ALL,
           (const void *sbuf, int sn, MPI_Datatype stype, void *rbuf, int rn, MPI_Datatype rtype,
            MPI_Comm comm),
           (sbuf, sn, stype, rbuf, rn, rtype, comm),
           all_to_all(part(sbuf, sn, stype, rn, rtype), tk_bytes(rn, rtype), comm))

COLLECTIVE(Allgatherv, Iallgatherv, ALLGATHERV, COLL_ALL2ALL,
           (const void *sbuf, int sn, MPI_Datatype stype, void *rbuf, const int rns[],
            const int displs[], MPI_Datatype rtype, MPI_Comm comm),
           (sbuf, sn, stype, rbuf, rns, displs, rtype, comm),
           everyone(comm, part(sbuf, sn, stype, rns[rank_of(comm)], rtype) * size_of(comm),
                    sum(rns, rtype, comm)))

COLLECTIVE(Alltoall, Ialltoall, ALLTOALL, COLL_ALL2ALL,
           (const void *sbuf, int sn, MPI_Datatype stype, void *rbuf, int rn, MPI_Datatype rtype,
            MPI_Comm comm),
           (sbuf, sn, stype, rbuf, rn, rtype, comm),
           all_to_all(part(sbuf, sn, stype, rn, rtype), tk_bytes(rn, rtype), comm))

COLLECTIVE(Alltoallv, Ialltoallv, ALLTOALLV, COLL_ALL2ALL,
           (const void *sbuf, const int sns[], const int sdispls[], MPI_Datatype stype, void *rbuf,
            const int rns[], const int rdispls[], MPI_Datatype rtype, MPI_Comm comm),
           (sbuf, sns, sdispls, stype, rbuf, rns, rdispls, rtype, comm),
           everyone(comm, sbuf == MPI_IN_PLACE ? sum(rns, rtype, comm) : sum(sns, stype, comm),
                    sum(rns, rtype, comm)))

COLLECTIVE(Alltoallw, Ialltoallw, ALLTOALLW, COLL_ALL2ALL,
           (const void *sbuf, const int sns[], const int sdispls[], const MPI_Datatype stypes[],
            void *rbuf, const int rns[], const int rdispls[], const MPI_Datatype rtypes[],
            MPI_Comm comm),
           (sbuf, sns, sdispls, stypes, rbuf, rns, rdispls, rtypes, comm),
           everyone(comm,
                    sbuf == MPI_IN_PLACE ? sum_types(rns, rtypes, comm) : sum_types(sns, stypes, comm),
                    sum_types(rns, rtypes, comm)))

COLLECTIVE(Allreduce, Iallreduce, ALLREDUCE, COLL_ALL2ALL,
           (const void *sbuf, void *rbuf, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (sbuf, rbuf, n, type, op, comm), all_to_all(tk_bytes(n, type), tk_bytes(n, type), comm))

COLLECTIVE(Reduce, Ireduce, REDUCE, COLL_ALL2ONE,
           (const void *sbuf, void *rbuf, int n, MPI_Datatype type, MPI_Op op, int root,
            MPI_Comm comm),
           (sbuf, rbuf, n, type, op, root, comm), reduce(tk_bytes(n, type), root, comm))

COLLECTIVE(Reduce_scatter, Ireduce_scatter, REDUCE_SCATTER, COLL_ALL2ALL,
           (const void *sbuf, void *rbuf, const int rns[], MPI_Datatype type, MPI_Op op,
            MPI_Comm comm),
           (sbuf, rbuf, rns, type, op, comm), reduce_scatter(rns, type, comm))

COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, REDUCE_SCATTER_BLOCK, COLL_ALL2ALL,
           (const void *sbuf, void *rbuf, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (sbuf, rbuf, n, type, op, comm), all_to_all(tk_bytes(n, type), tk_bytes(n, type), comm))

COLLECTIVE(Scan, Iscan, SCAN, COLL_OTHER,
           (const void *sbuf, void *rbuf, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (sbuf, rbuf, n, type, op, comm), scan(tk_bytes(n, type), 1, comm))

COLLECTIVE(Exscan, Iexscan, EXSCAN, COLL_OTHER,
           (const void *sbuf, void *rbuf, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (sbuf, rbuf, n, type, op, comm), scan(tk_bytes(n, type), 0, comm))
