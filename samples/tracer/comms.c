/* comms.c: communicators and the calls that create or free them.
 *
 * A communicator gets an identity all its members agree on: the world rank of
 * one member and that member's own count. The member tells the others over the
 * new communicator itself, inside the call that created it. */
#include "otf2pmpi.h"

#include <stdlib.h>

tk_comm *tk_comms;
uint32_t tk_ncomms;
static uint32_t room, serial = 2; /* 0 and 1 are world and self */

static tk_comm *new_comm(MPI_Comm handle, uint32_t kind)
{
    if (tk_ncomms == room) {
        room = room ? room * 2 : 16;
        tk_comms = realloc(tk_comms, room * sizeof *tk_comms);
    }
    tk_comm *c = &tk_comms[tk_ncomms++];
    *c = (tk_comm){.kind = kind, .handle = handle, .live = 1, .name = TK_NONE,
                   .parent_creator = TK_NONE, .parent_serial = TK_NONE};
    PMPI_Comm_rank(handle, &c->rank);
    PMPI_Comm_size(handle, &c->size);
    return c;
}

void tk_comms_start(void)
{
    new_comm(MPI_COMM_WORLD, TK_COMM_WORLD)->name = tk_intern_string(&tk.strings, "MPI_COMM_WORLD");
    tk_comm *self = new_comm(MPI_COMM_SELF, TK_COMM_SELF);
    self->name = tk_intern_string(&tk.strings, "MPI_COMM_SELF");
    self->serial = 1;
}

/* tk_comm_id returns the local id of a live communicator: the newest with this
 * handle, since MPI libraries use handles again. */
uint32_t tk_comm_id(MPI_Comm c)
{
    for (uint32_t i = tk_ncomms; i-- > 0;)
        if (tk_comms[i].live && tk_comms[i].handle == c) return i;
    return TK_NONE;
}

/* members appends the world ranks of a group to c->members. */
static uint32_t members(tk_comm *c, MPI_Group group)
{
    MPI_Group world;
    int n;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_size(group, &n);
    int *own = malloc((size_t)n * sizeof *own), *in_world = malloc((size_t)n * sizeof *in_world);
    for (int i = 0; i < n; i++) own[i] = i;
    PMPI_Group_translate_ranks(group, n, own, world, in_world);
    c->members = realloc(c->members, (c->na + (uint32_t)n) * sizeof *c->members);
    for (int i = 0; i < n; i++) c->members[c->na + (uint32_t)i] = (uint32_t)in_world[i];
    free(own);
    free(in_world);
    PMPI_Group_free(&world);
    PMPI_Group_free(&group);
    return (uint32_t)n;
}

/* agree settles the identity over an intracommunicator; its rank 0 is the
 * creator, the only process that reports the members. */
static int agree(tk_comm *c, MPI_Comm over)
{
    uint32_t id[2] = {(uint32_t)tk.rank, serial};
    int rank;
    PMPI_Comm_rank(over, &rank);
    PMPI_Bcast(id, 2, MPI_UINT32_T, 0, over);
    c->creator = id[0];
    c->serial = id[1];
    if (rank == 0) serial++;
    return rank == 0;
}

/* dimensions appends what the communicator's grid is like, if it has one. */
static void dimensions(tk_comm *c)
{
    int kind, n;
    PMPI_Topo_test(c->handle, &kind);
    if (kind != MPI_CART) return;
    PMPI_Cartdim_get(c->handle, &n);
    int *sizes = calloc((size_t)n * 3 + 1, sizeof *sizes), *periods = sizes + n;
    PMPI_Cart_get(c->handle, n, sizes, periods, periods + n);
    c->nd = (uint32_t)n;
    c->members = realloc(c->members, (c->na + 2 * c->nd) * sizeof *c->members);
    for (int i = 0; i < 2 * n; i++) c->members[c->na + (uint32_t)i] = (uint32_t)sizes[i];
    free(sizes);
}

static void define_intra(tk_comm *c)
{
    MPI_Group g;
    if (!agree(c, c->handle)) return;
    PMPI_Comm_group(c->handle, &g);
    c->na = members(c, g);
    dimensions(c);
}

/* define_inter lists the creator's own group first, as group A. */
static void define_inter(tk_comm *c)
{
    MPI_Comm merged;
    MPI_Group g;
    PMPI_Comm_remote_size(c->handle, &c->size);
    PMPI_Intercomm_merge(c->handle, 0, &merged);
    if (agree(c, merged)) {
        PMPI_Comm_group(c->handle, &g);
        c->na = members(c, g);
        PMPI_Comm_remote_group(c->handle, &g);
        c->nb = members(c, g);
    }
    PMPI_Comm_free(&merged);
}

/* created defines a new communicator and records its creation. */
static void created(MPI_Comm handle, uint32_t parent)
{
    int inter;
    if (handle == MPI_COMM_NULL) return;
    PMPI_Comm_test_inter(handle, &inter);
    tk_comm *c = new_comm(handle, inter ? TK_COMM_INTER : TK_COMM_INTRA);
    if (inter) define_inter(c);
    else define_intra(c);
    if (parent != TK_NONE) {
        c->parent_creator = tk_comms[parent].creator;
        c->parent_serial = tk_comms[parent].serial;
    }
    c->events = 1;
    TK_EVENT(CommCreate, tk_ncomms - 1);
}

static void end(OTF2_CollectiveOp op, uint32_t comm)
{
    TK_EVENT(MpiCollectiveEnd, op, comm, OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
}

/* CREATE is the body of each call that makes *out from a parent by a collective
 * operation over it. */
#define CREATE(fn, parent, out, call)                                          \
    TK_ENTER(fn, COLL_OTHER);                                                  \
    uint32_t p_ = on_ ? tk_comm_id(parent) : TK_NONE;                          \
    if (on_) TK_EVENT(MpiCollectiveBegin);                                     \
    int rc = call;                                                             \
    if (on_ && rc == MPI_SUCCESS) created(*(out), p_);                         \
    if (on_) end(OTF2_COLLECTIVE_OP_CREATE_HANDLE, p_);                        \
    TK_LEAVE();                                                                \
    return rc

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *out)
{
    CREATE("MPI_Comm_dup", comm, out, PMPI_Comm_dup(comm, out));
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *out)
{
    CREATE("MPI_Comm_dup_with_info", comm, out, PMPI_Comm_dup_with_info(comm, info, out));
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *out)
{
    CREATE("MPI_Comm_split", comm, out, PMPI_Comm_split(comm, color, key, out));
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *out)
{
    CREATE("MPI_Comm_split_type", comm, out, PMPI_Comm_split_type(comm, type, key, info, out));
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *out)
{
    CREATE("MPI_Comm_create", comm, out, PMPI_Comm_create(comm, group, out));
}

/* Only the group's members call this one: no collective of the parent. */
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *out)
{
    TK_ENTER("MPI_Comm_create_group", COLL_OTHER);
    uint32_t parent = on_ ? tk_comm_id(comm) : TK_NONE;
    int rc = PMPI_Comm_create_group(comm, group, tag, out);
    if (on_ && rc == MPI_SUCCESS && *out != MPI_COMM_NULL) {
        TK_EVENT(MpiCollectiveBegin);
        created(*out, parent);
        end(OTF2_COLLECTIVE_OP_CREATE_HANDLE, tk_ncomms - 1);
    }
    TK_LEAVE();
    return rc;
}

int MPI_Cart_create(MPI_Comm comm, int n, const int dims[], const int periods[], int reorder,
                    MPI_Comm *out)
{
    CREATE("MPI_Cart_create", comm, out, PMPI_Cart_create(comm, n, dims, periods, reorder, out));
}

int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm *out)
{
    CREATE("MPI_Cart_sub", comm, out, PMPI_Cart_sub(comm, remain, out));
}

int MPI_Graph_create(MPI_Comm comm, int n, const int index[], const int edges[], int reorder,
                     MPI_Comm *out)
{
    CREATE("MPI_Graph_create", comm, out, PMPI_Graph_create(comm, n, index, edges, reorder, out));
}

int MPI_Dist_graph_create(MPI_Comm comm, int n, const int nodes[], const int degrees[],
                          const int targets[], const int weights[], MPI_Info info, int reorder,
                          MPI_Comm *out)
{
    CREATE("MPI_Dist_graph_create", comm, out,
           PMPI_Dist_graph_create(comm, n, nodes, degrees, targets, weights, info, reorder, out));
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[],
                                   const int sourceweights[], int outdegree,
                                   const int destinations[], const int destweights[], MPI_Info info,
                                   int reorder, MPI_Comm *out)
{
    CREATE("MPI_Dist_graph_create_adjacent", comm, out,
           PMPI_Dist_graph_create_adjacent(comm, indegree, sources, sourceweights, outdegree,
                                           destinations, destweights, info, reorder, out));
}

/* Each side's group is one collective of its own; the peer communicator is
 * known to the leaders only and serves as parent where it is the world. */
int MPI_Intercomm_create(MPI_Comm local, int leader, MPI_Comm peer, int remote, int tag,
                         MPI_Comm *out)
{
    CREATE("MPI_Intercomm_create", local, out,
           PMPI_Intercomm_create(local, leader, peer, remote, tag, out));
}

int MPI_Intercomm_merge(MPI_Comm inter, int high, MPI_Comm *out)
{
    CREATE("MPI_Intercomm_merge", inter, out, PMPI_Intercomm_merge(inter, high, out));
}

int MPI_Comm_free(MPI_Comm *comm)
{
    TK_ENTER("MPI_Comm_free", COLL_OTHER);
    uint32_t id = on_ ? tk_comm_id(*comm) : TK_NONE;
    if (on_) TK_EVENT(MpiCollectiveBegin);
    int rc = PMPI_Comm_free(comm);
    if (id != TK_NONE) {
        TK_EVENT(CommDestroy, id);
        tk_comms[id].live = 0;
    }
    if (on_) end(OTF2_COLLECTIVE_OP_DESTROY_HANDLE, id);
    TK_LEAVE();
    return rc;
}

/* A name is a definition, not an event. */
int MPI_Comm_set_name(MPI_Comm comm, const char *name)
{
    uint32_t id = tk.on ? tk_comm_id(comm) : TK_NONE;
    if (id != TK_NONE) tk_comms[id].name = tk_intern_string(&tk.strings, name);
    return PMPI_Comm_set_name(comm, name);
}
