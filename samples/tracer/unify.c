/* unify.c: definitions at the end of the run.
 *
 * Every process packs its tables and sends them to rank 0. Rank 0 interns them
 * rank by rank into global tables (so the same program gives the same numbers),
 * answers each process with its map from local to global ids, and writes the
 * global definitions; every process writes its mapping tables and clock offsets. */
#define _GNU_SOURCE
#include "otf2pmpi.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Each process's maps, one after the other in this order. */
enum { STRINGS, REGIONS, SITES, CONTEXTS, COMMS, MAPS };

typedef struct { char *data; size_t used, room; } buffer;

static void put(buffer *b, const void *p, size_t n)
{
    if (b->used + n > b->room) b->data = realloc(b->data, b->room = (b->used + n) * 2);
    if (n) memcpy(b->data + b->used, p, n);
    b->used += n;
}

static void put_u32(buffer *b, uint32_t v) { put(b, &v, sizeof v); }

static uint32_t get_u32(const char **p)
{
    uint32_t v;
    memcpy(&v, *p, sizeof v);
    *p += sizeof v;
    return v;
}

/* --- packing, at every process --- */

static void put_table(buffer *b, const tk_table *t)
{
    put_u32(b, t->count);
    for (uint32_t i = 0; i < t->count; i++) {
        size_t n;
        const void *key = tk_key(t, i, &n);
        put_u32(b, (uint32_t)n);
        put(b, key, n);
    }
}

static void put_comms(buffer *b)
{
    put_u32(b, tk_ncomms);
    for (uint32_t i = 0; i < tk_ncomms; i++) {
        const tk_comm *c = &tk_comms[i];
        /* the leading fixed fields, creator to nd, are all uint32 */
        put(b, c, offsetof(tk_comm, nd) + sizeof c->nd);
        put(b, c->members, (c->na + c->nb + 2 * c->nd) * sizeof *c->members);
    }
}

static buffer pack(uint32_t host)
{
    buffer b = {0};
    put_table(&b, &tk.strings);
    put_table(&b, &tk.regions);
    put_table(&b, &tk.sites);
    put_table(&b, &tk.contexts);
    put_comms(&b);
    put(&b, tk.end_line, tk.regions.count * sizeof *tk.end_line);
    put_u32(&b, host);
    return b;
}

/* --- merging, at rank 0 --- */

static struct {
    tk_table  strings, regions, sites, contexts, comms;
    uint32_t *end_line;         /* by global region */
    tk_comm  *comm;             /* by global communicator */
    uint32_t *host;             /* by rank, string ids */
} all;

static uint32_t mapped(const uint32_t *map, uint32_t id) { return id == TK_NONE ? id : map[id]; }

static void merge_strings(const char **p, uint32_t *map)
{
    for (uint32_t i = 0, n = get_u32(p); i < n; i++) {
        uint32_t size = get_u32(p);
        map[i] = tk_intern(&all.strings, *p, size);
        *p += size;
    }
}

/* next_key copies one key of fixed size out of the packed bytes. */
static void next_key(const char **p, void *key)
{
    uint32_t size = get_u32(p);
    memcpy(key, *p, size);
    *p += size;
}

static uint32_t merge_regions(const char **p, uint32_t **map)
{
    uint32_t n = get_u32(p);
    for (uint32_t i = 0; i < n; i++) {
        tk_region_key r;
        next_key(p, &r);
        r.name = mapped(map[STRINGS], r.name);
        r.file = mapped(map[STRINGS], r.file);
        map[REGIONS][i] = tk_intern(&all.regions, &r, sizeof r);
    }
    return n;
}

static void merge_sites(const char **p, uint32_t **map)
{
    for (uint32_t i = 0, n = get_u32(p); i < n; i++) {
        tk_site_key s;
        next_key(p, &s);
        s.file = mapped(map[STRINGS], s.file);
        map[SITES][i] = tk_intern(&all.sites, &s, sizeof s);
    }
}

/* A parent context always has a smaller id than its children. */
static void merge_contexts(const char **p, uint32_t **map)
{
    for (uint32_t i = 0, n = get_u32(p); i < n; i++) {
        tk_context_key c;
        next_key(p, &c);
        c.region = mapped(map[REGIONS], c.region);
        c.site = mapped(map[SITES], c.site);
        c.parent = mapped(map[CONTEXTS], c.parent);
        map[CONTEXTS][i] = tk_intern(&all.contexts, &c, sizeof c);
    }
}

/* merge_comm joins what one process knows of a communicator: its name may come
 * from any of them, its members come from its creator. */
static uint32_t merge_comm(const char **p, const uint32_t *strings)
{
    tk_comm c = {0};
    memcpy(&c, *p, offsetof(tk_comm, nd) + sizeof c.nd);
    *p += offsetof(tk_comm, nd) + sizeof c.nd;
    uint32_t key[2] = {c.creator, c.serial}, known = all.comms.count;
    uint32_t id = tk_intern(&all.comms, key, sizeof key);
    if (id == known) {
        all.comm = realloc(all.comm, (id + 1) * sizeof *all.comm);
        all.comm[id] = c;
        all.comm[id].name = TK_NONE;
        all.comm[id].na = all.comm[id].nb = all.comm[id].nd = 0;
        all.comm[id].members = NULL;
    }
    tk_comm *g = &all.comm[id];
    if (g->name == TK_NONE) g->name = mapped(strings, c.name);
    if (c.na) {
        g->na = c.na;
        g->nb = c.nb;
        g->nd = c.nd;
        size_t size = (c.na + c.nb + 2 * c.nd) * sizeof *g->members;
        g->members = malloc(size);
        memcpy(g->members, *p, size);
        *p += size;
    }
    return id;
}

static void merge_end_lines(const char **p, const uint32_t *map, uint32_t n)
{
    static uint32_t room;
    all.end_line = realloc(all.end_line, all.regions.count * sizeof *all.end_line);
    while (room < all.regions.count) all.end_line[room++] = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t line = get_u32(p);
        if (line > all.end_line[map[i]]) all.end_line[map[i]] = line;
    }
}

/* merge takes one process's packed tables and fills its maps. */
static void merge(const char *p, int rank, const uint32_t *counts, uint32_t *maps)
{
    uint32_t *map[MAPS];
    for (int i = 0; i < MAPS; i++) {
        map[i] = maps;
        maps += counts[i];
    }
    merge_strings(&p, map[STRINGS]);
    uint32_t regions = merge_regions(&p, map);
    merge_sites(&p, map);
    merge_contexts(&p, map);
    for (uint32_t i = 0, n = get_u32(&p); i < n; i++) map[COMMS][i] = merge_comm(&p, map[STRINGS]);
    merge_end_lines(&p, map[REGIONS], regions);
    all.host[rank] = mapped(map[STRINGS], get_u32(&p));
}

/* --- writing --- */

static uint32_t text(const char *s) { return tk_intern_string(&all.strings, s); }

static int64_t offset_at(uint64_t t)
{
    double span = (double)(int64_t)(tk.clock[1].time - tk.clock[0].time);
    double rise = (double)(tk.clock[1].offset - tk.clock[0].offset);
    double at = (double)(int64_t)(t - tk.clock[0].time);
    return tk.clock[0].offset + (int64_t)rint(span > 0 ? rise / span * at : 0);
}

static void write_locations(OTF2_GlobalDefWriter *w, const uint64_t *events)
{
    char name[32];
    uint32_t machine = text("machine"), node = text("node"), thread = text("Master thread");
    uint32_t *nodes = calloc((size_t)tk.size, sizeof *nodes), n = 0;
    OTF2_GlobalDefWriter_WriteSystemTreeNode(w, 0, text("cluster"), machine,
                                             OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (int r = 0; r < tk.size; r++) {
        uint32_t k = 0;
        while (k < n && nodes[k] != all.host[r]) k++;
        if (k == n) {
            nodes[n++] = all.host[r];
            OTF2_GlobalDefWriter_WriteSystemTreeNode(w, n, all.host[r], node, 0);
            OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(w, n, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
        }
        snprintf(name, sizeof name, "MPI Rank %d", r);
        OTF2_GlobalDefWriter_WriteLocationGroup(w, (uint32_t)r, text(name),
                                                OTF2_LOCATION_GROUP_TYPE_PROCESS, k + 1,
                                                OTF2_UNDEFINED_LOCATION_GROUP);
        OTF2_GlobalDefWriter_WriteLocation(w, (uint64_t)r, thread, OTF2_LOCATION_TYPE_CPU_THREAD,
                                           events[r], (uint32_t)r);
    }
    free(nodes);
}

static void write_code(OTF2_GlobalDefWriter *w)
{
    for (uint32_t i = 0; i < all.regions.count; i++) {
        const tk_region_key *r = tk_key(&all.regions, i, NULL);
        OTF2_GlobalDefWriter_WriteRegion(w, i, r->name, r->name, text(""), (OTF2_RegionRole)r->role,
                                         (OTF2_Paradigm)r->paradigm, OTF2_REGION_FLAG_NONE, r->file,
                                         r->line, all.end_line[i]);
    }
    for (uint32_t i = 0; i < all.sites.count; i++) {
        const tk_site_key *s = tk_key(&all.sites, i, NULL);
        OTF2_GlobalDefWriter_WriteSourceCodeLocation(w, i, s->file, s->line);
    }
    for (uint32_t i = 0; i < all.contexts.count; i++) {
        const tk_context_key *c = tk_key(&all.contexts, i, NULL);
        OTF2_GlobalDefWriter_WriteCallingContext(w, i, c->region, c->site, c->parent);
    }
}

/* write_group writes the next group and returns its id. */
static uint32_t write_group(OTF2_GlobalDefWriter *w, OTF2_GroupType type, uint32_t n,
                            const uint32_t *members)
{
    static uint32_t next;
    uint64_t *wide = calloc((size_t)n + 1, sizeof *wide);
    for (uint32_t i = 0; i < n; i++) wide[i] = members ? members[i] : i;
    OTF2_GlobalDefWriter_WriteGroup(w, next, text(""), type, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                    n, wide);
    free(wide);
    return next++;
}

static void write_comms(OTF2_GlobalDefWriter *w)
{
    write_group(w, OTF2_GROUP_TYPE_COMM_LOCATIONS, (uint32_t)tk.size, NULL);
    for (uint32_t i = 0; i < all.comms.count; i++) {
        const tk_comm *c = &all.comm[i];
        uint32_t name = c->name == TK_NONE ? text("") : c->name, parent = OTF2_UNDEFINED_COMM;
        uint32_t key[2] = {c->parent_creator, c->parent_serial};
        OTF2_CommFlag flags = c->events ? OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS : OTF2_COMM_FLAG_NONE;
        uint32_t n = c->kind == TK_COMM_WORLD ? (uint32_t)tk.size : c->na;
        if (key[0] != TK_NONE) parent = tk_intern(&all.comms, key, sizeof key);
        if (c->kind == TK_COMM_SELF) {
            OTF2_GlobalDefWriter_WriteComm(w, i, name, write_group(w, OTF2_GROUP_TYPE_COMM_SELF, 0, NULL),
                                           parent, flags);
            continue;
        }
        uint32_t a = write_group(w, OTF2_GROUP_TYPE_COMM_GROUP, n, c->members);
        if (c->kind != TK_COMM_INTER) {
            OTF2_GlobalDefWriter_WriteComm(w, i, name, a, parent, flags);
            continue;
        }
        uint32_t b = write_group(w, OTF2_GROUP_TYPE_COMM_GROUP, c->nb, c->members + c->na);
        OTF2_GlobalDefWriter_WriteInterComm(w, i, name, a, b, OTF2_UNDEFINED_COMM, flags);
    }
}

/* dimension names one of a grid's. */
static uint32_t dimension(uint32_t i)
{
    char name[32];
    snprintf(name, sizeof name, "dimension %u", (unsigned)i);
    return text(name);
}

/* write_grids writes the Cartesian grids of communicators. MPI numbers places in
 * them row by row: the last dimension counts fastest. */
static void write_grids(OTF2_GlobalDefWriter *w)
{
    uint32_t next = 0, grid = 0;
    for (uint32_t i = 0; i < all.comms.count; i++) {
        const tk_comm *c = &all.comm[i];
        const uint32_t *sizes = c->members + c->na + c->nb;
        if (!c->nd) continue;
        uint32_t *ref = calloc(c->nd * 2, sizeof *ref), *at = ref + c->nd;
        for (uint32_t k = 0; k < c->nd; k++) {
            OTF2_GlobalDefWriter_WriteCartDimension(w, ref[k] = next++, dimension(k), sizes[k],
                                                    sizes[c->nd + k] ? OTF2_CART_PERIODIC_TRUE : OTF2_CART_PERIODIC_FALSE);
        }
        OTF2_GlobalDefWriter_WriteCartTopology(w, grid, c->name == TK_NONE ? text("grid") : c->name, i,
                                               (uint8_t)c->nd, ref);
        for (uint32_t rank = 0; rank < c->na; rank++) {
            for (uint32_t k = c->nd, left = rank; k-- > 0; left /= sizes[k]) at[k] = left % sizes[k];
            OTF2_GlobalDefWriter_WriteCartCoordinate(w, grid, rank, (uint8_t)c->nd, at);
        }
        free(ref);
        grid++;
    }
}

static void write_strings(OTF2_GlobalDefWriter *w)
{
    for (uint32_t i = 0; i < all.strings.count; i++)
        OTF2_GlobalDefWriter_WriteString(w, i, tk_key(&all.strings, i, NULL));
}

/* name_all interns the strings that the writers below need, before any record. */
static void name_all(void)
{
    char name[32];
    const char *fixed[] = {"", "MPI", "cluster", "machine", "node", "Master thread"};
    for (uint32_t i = 0; i < all.comms.count; i++) {
        for (uint32_t k = 0; k < all.comm[i].nd; k++) dimension(k);
        if (all.comm[i].nd) text("grid");
    }
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) text(fixed[i]);
    for (int r = 0; r < tk.size; r++) {
        snprintf(name, sizeof name, "MPI Rank %d", r);
        text(name);
    }
}

static void write_global(const uint64_t *events, uint64_t begin, uint64_t end)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t real = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - (tk_now() - begin);
    OTF2_GlobalDefWriter *w = OTF2_Archive_GetGlobalDefWriter(tk.archive);
    OTF2_Archive_SetMachineName(tk.archive, tk_key(&all.strings, all.host[0], NULL));
    name_all();
    OTF2_GlobalDefWriter_WriteClockProperties(w, 1000000000, begin, end - begin + 1, real);
    write_strings(w);
    OTF2_GlobalDefWriter_WriteParadigm(w, OTF2_PARADIGM_MPI, text("MPI"), OTF2_PARADIGM_CLASS_PROCESS);
    write_locations(w, events);
    write_code(w);
    write_comms(w);
    write_grids(w);
    OTF2_Archive_CloseGlobalDefWriter(tk.archive, w);
}

static void write_local(const uint32_t *counts, const uint32_t *maps)
{
    static const OTF2_MappingType type[MAPS] = {
        OTF2_MAPPING_STRING, OTF2_MAPPING_REGION, OTF2_MAPPING_SOURCE_CODE_LOCATION,
        OTF2_MAPPING_CALLING_CONTEXT, OTF2_MAPPING_COMM};
    OTF2_DefWriter *w = OTF2_Archive_GetDefWriter(tk.archive, (uint64_t)tk.rank);
    for (int i = 0; i < MAPS; maps += counts[i++]) {
        if (!counts[i]) continue;
        OTF2_IdMap *m = OTF2_IdMap_CreateFromUint32Array(counts[i], maps, false);
        OTF2_DefWriter_WriteMappingTable(w, type[i], m);
        OTF2_IdMap_Free(m);
    }
    for (int i = 0; i < 2; i++)
        OTF2_DefWriter_WriteClockOffset(w, tk.clock[i].time, tk.clock[i].offset, tk.clock[i].deviation);
    OTF2_Archive_CloseDefWriter(tk.archive, w);
}

/* --- the exchange --- */

/* offsets turns counts into displacements and returns their sum. */
static int offsets(const int *n, int *at)
{
    int total = 0;
    for (int r = 0; r < tk.size; r++) {
        at[r] = total;
        total += n[r];
    }
    return total;
}

/* unify returns this process's maps, all five in one array. */
static uint32_t *unify(buffer b, uint32_t *counts)
{
    int bytes = (int)b.used, ids = 0, P = tk.size;
    for (int i = 0; i < MAPS; i++) ids += (int)counts[i];
    int *nbytes = calloc((size_t)P * 4, sizeof(int)), *at = nbytes + P, *nids = at + P, *mat = nids + P;
    uint32_t *every = calloc((size_t)(P * MAPS), sizeof *every), *mine = calloc((size_t)ids, sizeof *mine);
    PMPI_Gather(&bytes, 1, MPI_INT, nbytes, 1, MPI_INT, 0, tk.comm);
    PMPI_Gather(&ids, 1, MPI_INT, nids, 1, MPI_INT, 0, tk.comm);
    PMPI_Gather(counts, MAPS, MPI_UINT32_T, every, MAPS, MPI_UINT32_T, 0, tk.comm);
    int total = offsets(nbytes, at), sum = offsets(nids, mat);
    char *data = malloc((size_t)total + 1);
    uint32_t *maps = calloc((size_t)sum + 1, sizeof *maps);
    PMPI_Gatherv(b.data, bytes, MPI_BYTE, data, nbytes, at, MPI_BYTE, 0, tk.comm);
    if (tk.rank == 0) {
        all.host = calloc((size_t)P, sizeof *all.host);
        for (int r = 0; r < P; r++) merge(data + at[r], r, every + r * MAPS, maps + mat[r]);
    }
    PMPI_Scatterv(maps, nids, mat, MPI_UINT32_T, mine, ids, MPI_UINT32_T, 0, tk.comm);
    free(maps);
    free(data);
    free(every);
    free(nbytes);
    return mine;
}

static uint32_t host_name(void)
{
    char name[256] = "localhost";
    const char *given = getenv("TRACEKIT_HOST");
    gethostname(name, sizeof name - 1);
    return tk_intern_string(&tk.strings, given ? given : name);
}

void tk_write_definitions(void)
{
    uint64_t n = 0, *events = calloc((size_t)tk.size, sizeof *events);
    uint64_t begin = tk.first + (uint64_t)offset_at(tk.first);
    uint64_t end = tk.last + (uint64_t)offset_at(tk.last);
    uint32_t host = host_name();
    uint32_t counts[MAPS] = {tk.strings.count, tk.regions.count, tk.sites.count, tk.contexts.count,
                             tk_ncomms};
    tk_fill_end_lines();
    OTF2_EvtWriter_GetNumberOfEvents(tk.writer, &n);
    OTF2_Archive_CloseEvtWriter(tk.archive, tk.writer);
    OTF2_Archive_CloseEvtFiles(tk.archive);
    PMPI_Gather(&n, 1, MPI_UINT64_T, events, 1, MPI_UINT64_T, 0, tk.comm);
    PMPI_Allreduce(MPI_IN_PLACE, &begin, 1, MPI_UINT64_T, MPI_MIN, tk.comm);
    PMPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_UINT64_T, MPI_MAX, tk.comm);
    uint32_t *maps = unify(pack(host), counts);
    OTF2_Archive_OpenDefFiles(tk.archive);
    write_local(counts, maps);
    OTF2_Archive_CloseDefFiles(tk.archive);
    if (tk.rank == 0) write_global(events, begin, end);
    OTF2_Archive_Close(tk.archive);
    free(maps);
    free(events);
}
