/* otf2pmpi.h: what the parts of the tracer share.
 *
 * The tracer stands between a program and MPI by MPI's profiling interface
 * (each MPI_X here calls PMPI_X) and writes an OTF2 archive: one location for
 * each process, local identifiers in the events, unified at MPI_Finalize.
 *
 *   otf2pmpi.c   clock, regions, calling contexts, start and end of the archive
 *   table.c      interning tables, the one data structure of all definitions
 *   comms.c      communicators and what creates or frees them
 *   requests.c   requests from post to completion, Wait and Test calls
 *   p2p.c        sends, receives, probes
 *   colls.c      collectives, blocking and non-blocking
 *   unify.c      gathers definitions, writes them with mapping tables
 */
#ifndef OTF2PMPI_H
#define OTF2PMPI_H

#include <mpi.h>
#include <otf2/otf2.h>
#include <stddef.h>
#include <stdint.h>

#define TK_NONE OTF2_UNDEFINED_UINT32

/* --- table.c: byte strings numbered in the order of first appearance --- */

typedef struct {
    uint32_t  count, slots;
    uint32_t *index;            /* hash slots: id + 1, or 0 */
    size_t   *start;            /* start[id] .. start[id + 1] in bytes */
    char     *bytes;
    size_t    used, room;
    uint32_t  room_ids;
} tk_table;

uint32_t    tk_intern(tk_table *t, const void *key, size_t size);
uint32_t    tk_intern_string(tk_table *t, const char *s);
const void *tk_key(const tk_table *t, uint32_t id, size_t *size);

/* --- definitions; each key holds ids of other tables --- */

typedef struct { uint32_t name, file, line, role, paradigm; } tk_region_key;
typedef struct { uint32_t file, line; } tk_site_key;
typedef struct { uint32_t region, site, parent; } tk_context_key;

typedef struct {
    uint32_t creator, serial;   /* together unique over all processes */
    uint32_t parent_creator, parent_serial;
    uint32_t kind;              /* TK_COMM_... */
    uint32_t events;            /* 1 if its creation is recorded */
    uint32_t name;              /* string id, may be TK_NONE */
    uint32_t na, nb;            /* members (world ranks), known at one process only */
    uint32_t nd;                /* dimensions of its Cartesian grid, known there as well */
    uint32_t *members;          /* na, then nb, then nd sizes, then nd times 1 if periodic */
    MPI_Comm handle;
    int      live, size, rank;  /* size: of the peers' group; rank: own */
} tk_comm;
enum { TK_COMM_WORLD, TK_COMM_SELF, TK_COMM_INTRA, TK_COMM_INTER };

/* --- the tracer's state, one for each process --- */

typedef struct {
    int             on;         /* archive open and recording */
    int             rank, size;
    MPI_Comm        comm;       /* the tracer's own, so that no message mixes */
    OTF2_Archive   *archive;
    OTF2_EvtWriter *writer;
    tk_table        strings, regions, sites, contexts;
    uint32_t       *end_line;   /* of regions, 0 if unknown */
    uint64_t        first, last;
    struct { uint64_t time; int64_t offset; double deviation; } clock[2];
} tk_state;
extern tk_state tk;

/* A recorded MPI function: made static in each wrapper. */
typedef struct { const char *name; OTF2_RegionRole role; uint32_t id; } tk_function;

uint64_t tk_now(void);
int      tk_enter(tk_function *f);  /* 1 if recorded: call tk_leave */
void     tk_leave(void);
void     tk_fill_end_lines(void);   /* one for each region so far, 0 where unknown */

/* TK_ENTER opens a wrapper; on_ says whether anything may be recorded. */
#define TK_ENTER(fn, role)                                                     \
    static tk_function fn_ = {fn, OTF2_REGION_ROLE_##role, TK_NONE};           \
    int on_ = tk_enter(&fn_)
#define TK_LEAVE()                                                             \
    do {                                                                       \
        if (on_) tk_leave();                                                   \
    } while (0)
/* TK_EVENT writes one event now. */
#define TK_EVENT(kind, ...) OTF2_EvtWriter_##kind(tk.writer, NULL, tk_now(), ##__VA_ARGS__)

/* --- comms.c --- */

extern tk_comm *tk_comms;
extern uint32_t tk_ncomms;
void     tk_comms_start(void);
uint32_t tk_comm_id(MPI_Comm c);

/* --- requests.c --- */

typedef struct {
    MPI_Request  handle;
    MPI_Request *where;         /* the program's variable when it was posted */
    uint64_t     id;
    enum { TK_REQ_NOTHING, TK_REQ_SEND, TK_REQ_RECV, TK_REQ_COLL } kind;
    int          persistent, active;
    uint32_t     comm, peer, tag;
    uint64_t     bytes;         /* send: length; collective: bytes sent */
    uint64_t     received;      /* collective: bytes received */
    OTF2_CollectiveOp op;
    uint32_t     root;
} tk_request;

uint64_t tk_request_id(void);
void     tk_request_add(tk_request r, MPI_Request *where);

/* --- p2p.c --- */

uint64_t tk_bytes(int count, MPI_Datatype type);
uint64_t tk_received(const MPI_Status *s);

/* --- unify.c --- */

void tk_write_definitions(void);

#endif
