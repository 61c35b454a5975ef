/* otf2pmpi.c: clock, regions and calling contexts, start and end of an archive.
 *
 * Environment:
 *   TRACEKIT_DIR        the archive's directory (default trace-PROGRAM); where it
 *                       exists, a number is appended
 *   TRACEKIT_HOST       name recorded for this machine instead of its own
 *   TRACEKIT_CALLSITES  0: plain Enter and Leave, no calling contexts
 *   TRACEKIT_SKEW       NS,PPM: the clock of rank r runs r*NS ahead and
 *                       ((r mod 3) - 1)*PPM fast, as on machines of their own
 */
#define _GNU_SOURCE
#include "otf2pmpi.h"

#define OTF2_MPI_USE_PMPI
#define OTF2_MPI_UINT64_T MPI_UINT64_T
#define OTF2_MPI_INT64_T MPI_INT64_T
#include <otf2/OTF2_MPI_Collectives.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

tk_state tk;

enum { DEPTH = 1024, EARLY = 256, PINGS = 40, PING_TAG = 77 };

static struct { uint32_t context, region; } stack[DEPTH];
static int depth;               /* may exceed DEPTH: deeper regions go unrecorded */
static struct { uint64_t time; uint32_t context, region; int leave; } early[EARLY];
static int nearly;              /* events before the archive is open */
static int finished, contexts = 1;
static uint64_t skew_ns, started;
static double drift;
static pthread_t thread;
static const char *site_file;   /* place of the next MPI call, if known */
static uint32_t site_line;

/* --- clock --- */

uint64_t tk_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    if (!started) started = ns;
    return ns + skew_ns + (uint64_t)(int64_t)(drift * (double)(ns - started));
}

/* plan_skew reads TRACEKIT_SKEW; the rank must be known before the first time
 * is taken, and before MPI_Init only the launcher's variables tell it. */
static void plan_skew(void)
{
    const char *plan = getenv("TRACEKIT_SKEW");
    const char *r = getenv("OMPI_COMM_WORLD_RANK");
    if (!r) r = getenv("PMI_RANK");
    double ns, ppm;
    if (!plan || !r || sscanf(plan, "%lf,%lf", &ns, &ppm) != 2) return;
    skew_ns = (uint64_t)(atoi(r) * ns);
    drift = (atoi(r) % 3 - 1) * ppm * 1e-6;
}

/* measure finds this process's offset to rank 0 by the shortest of several
 * round trips; its midpoint is taken as simultaneous with rank 0's answer. */
static void measure(int which)
{
    uint64_t ta, tm, tb, best = UINT64_MAX;
    if (tk.rank == 0) {
        for (int i = 0; i < (tk.size - 1) * PINGS; i++) {
            int r = 1 + i / PINGS;
            PMPI_Recv(&ta, 1, MPI_UINT64_T, r, PING_TAG, tk.comm, MPI_STATUS_IGNORE);
            tm = tk_now();
            PMPI_Send(&tm, 1, MPI_UINT64_T, r, PING_TAG, tk.comm);
        }
        tk.clock[which].time = tk_now();
    } else {
        for (int i = 0; i < PINGS; i++) {
            ta = tk_now();
            PMPI_Send(&ta, 1, MPI_UINT64_T, 0, PING_TAG, tk.comm);
            PMPI_Recv(&tm, 1, MPI_UINT64_T, 0, PING_TAG, tk.comm, MPI_STATUS_IGNORE);
            tb = tk_now();
            if (tb - ta >= best) continue;
            best = tb - ta;
            tk.clock[which].time = ta + best / 2;
            tk.clock[which].offset = (int64_t)(tm - tk.clock[which].time);
            /* anywhere in the round trip with equal chance */
            tk.clock[which].deviation = (double)best / 3.4641016151377544;
        }
    }
    PMPI_Barrier(tk.comm);
}

/* --- events of regions --- */

static int recording(void) { return tk.on && pthread_equal(thread, pthread_self()); }

static void write_region(uint64_t time, uint32_t context, uint32_t region, int leave)
{
    if (!tk.first) tk.first = time;
    tk.last = time;
    if (contexts && leave) OTF2_EvtWriter_CallingContextLeave(tk.writer, NULL, time, context);
    /* distance 2: one region is new, its parent went on (OTF2, CallingContext) */
    else if (contexts) OTF2_EvtWriter_CallingContextEnter(tk.writer, NULL, time, context, 2);
    else if (leave) OTF2_EvtWriter_Leave(tk.writer, NULL, time, region);
    else OTF2_EvtWriter_Enter(tk.writer, NULL, time, region);
}

/* note writes a region event, or keeps it until MPI_Init has opened the archive. */
static int note(uint32_t context, uint32_t region, int leave)
{
    if (recording()) {
        write_region(tk_now(), context, region, leave);
        return 1;
    }
    if (tk.on || finished || nearly == EARLY) return 0;
    if (!nearly) plan_skew();
    early[nearly].time = tk_now();
    early[nearly].context = context;
    early[nearly].region = region;
    early[nearly++].leave = leave;
    return 1;
}

/* push enters a region below the current one. */
static int push(uint32_t region, uint32_t file, uint32_t line)
{
    if (depth >= DEPTH) {
        depth++;
        return 1;
    }
    tk_site_key site = {file, line};
    tk_context_key c = {region, TK_NONE, depth ? stack[depth - 1].context : TK_NONE};
    if (file != TK_NONE) c.site = tk_intern(&tk.sites, &site, sizeof site);
    uint32_t context = tk_intern(&tk.contexts, &c, sizeof c);
    if (!note(context, region, 0)) return 0;
    stack[depth].context = context;
    stack[depth++].region = region;
    return 1;
}

static void pop(void)
{
    if (depth == 0) return;
    if (--depth < DEPTH) note(stack[depth].context, stack[depth].region, 1);
}

int tk_enter(tk_function *f)
{
    if (finished || (tk.on && !recording())) return 0;
    if (f->id == TK_NONE) {
        tk_region_key r = {tk_intern_string(&tk.strings, f->name), TK_NONE, 0, f->role,
                           OTF2_PARADIGM_MPI};
        f->id = tk_intern(&tk.regions, &r, sizeof r);
    }
    uint32_t file = site_file ? tk_intern_string(&tk.strings, site_file) : TK_NONE;
    site_file = NULL;
    return push(f->id, file, site_line) && tk.on;
}

void tk_leave(void) { pop(); }

/* --- what tracekit_mpi.h calls --- */

void tracekit_at(const char *file, int line)
{
    if (tk.on && !recording()) return;
    site_file = file;
    site_line = (uint32_t)line;
}

void tracekit_begin(const char *name, const char *file, int line)
{
    if (finished || (tk.on && !recording())) return;
    uint32_t f = tk_intern_string(&tk.strings, file);
    tk_region_key r = {tk_intern_string(&tk.strings, name), f, (uint32_t)line,
                       OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_USER};
    push(tk_intern(&tk.regions, &r, sizeof r), f, (uint32_t)line);
}

void tk_fill_end_lines(void)
{
    static uint32_t room;
    if (room == tk.regions.count) return;
    tk.end_line = realloc(tk.end_line, tk.regions.count * sizeof *tk.end_line);
    while (room < tk.regions.count) tk.end_line[room++] = 0;
}

void tracekit_end(int line)
{
    if (finished || depth == 0 || (tk.on && !recording())) return;
    tk_fill_end_lines();
    if (depth <= DEPTH) tk.end_line[stack[depth - 1].region] = (uint32_t)line;
    pop();
}

/* --- start --- */

static OTF2_FlushType before_flush(void *u, OTF2_FileType t, OTF2_LocationRef l, void *c, bool f)
{
    (void)u, (void)t, (void)l, (void)c, (void)f;
    return OTF2_FLUSH;
}
static OTF2_TimeStamp after_flush(void *u, OTF2_FileType t, OTF2_LocationRef l)
{
    (void)u, (void)t, (void)l;
    return tk_now();
}

/* arguments returns the program's name and arguments as string ids. */
static uint32_t arguments(uint32_t *ids, uint32_t room)
{
    static char text[65536];
    FILE *f = fopen("/proc/self/cmdline", "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    uint32_t count = 0;
    if (f) fclose(f);
    for (char *p = text; p < text + n && count < room; p += strlen(p) + 1) {
        char *slash = count == 0 ? strrchr(p, '/') : NULL;
        ids[count++] = tk_intern_string(&tk.strings, slash ? slash + 1 : p);
    }
    if (!count) ids[count++] = tk_intern_string(&tk.strings, "unknown");
    return count;
}

/* place settles the archive's directory: never one that exists. */
static void place(char *path, size_t room, const char *program)
{
    const char *dir = getenv("TRACEKIT_DIR");
    char base[4000];
    if (dir) snprintf(base, sizeof base, "%s", dir);
    else snprintf(base, sizeof base, "trace-%s", program);
    snprintf(path, room, "%s", base);
    for (int i = 1; tk.rank == 0 && access(path, F_OK) == 0; i++)
        snprintf(path, room, "%s.%d", base, i);
    PMPI_Bcast(path, (int)room, MPI_CHAR, 0, tk.comm);
}

/* open_archive is collective; without an archive the program runs untraced. */
static int open_archive(const char *program)
{
    static OTF2_FlushCallbacks flush = {before_flush, after_flush};
    char path[4096] = "";
    place(path, sizeof path, program);
    tk.archive = OTF2_Archive_Open(path, "traces", OTF2_FILEMODE_WRITE, 1 << 20, 1 << 18,
                                   OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    int ok = tk.archive && !OTF2_Archive_SetFlushCallbacks(tk.archive, &flush, NULL) &&
             !OTF2_MPI_Archive_SetCollectiveCallbacks(tk.archive, tk.comm, MPI_COMM_NULL) &&
             !OTF2_Archive_OpenEvtFiles(tk.archive) &&
             (tk.writer = OTF2_Archive_GetEvtWriter(tk.archive, (uint64_t)tk.rank)) != NULL;
    PMPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, tk.comm);
    if (!ok) {
        if (tk.rank == 0) fprintf(stderr, "tracekit: cannot write %s, not tracing\n", path);
        return 0;
    }
    OTF2_Archive_SetCreator(tk.archive, "tracekit otf2pmpi");
    OTF2_Archive_SetBoolProperty(tk.archive, "OTF2::MPI_COMMUNICATION_COMPLETE", true, true);
    return 1;
}

/* start opens the archive inside MPI_Init and writes what was kept until then. */
static void start(void)
{
    uint32_t ids[256];
    const char *sites = getenv("TRACEKIT_CALLSITES");
    contexts = !(sites && !strcmp(sites, "0"));
    PMPI_Comm_dup(MPI_COMM_WORLD, &tk.comm);
    PMPI_Comm_rank(tk.comm, &tk.rank);
    PMPI_Comm_size(tk.comm, &tk.size);
    tk_comms_start();
    uint32_t n = arguments(ids, 256);
    finished = !open_archive(tk_key(&tk.strings, ids[0], NULL));
    if (finished) return;
    measure(0);
    OTF2_EvtWriter_ProgramBegin(tk.writer, NULL, early[0].time, ids[0], n - 1, ids + 1);
    for (int i = 0; i < nearly; i++)
        write_region(early[i].time, early[i].context, early[i].region, early[i].leave);
    thread = pthread_self();
    tk.on = 1;
}

int MPI_Init(int *argc, char ***argv)
{
    TK_ENTER("MPI_Init", FUNCTION);
    int rc = PMPI_Init(argc, argv);
    start();
    (void)on_; /* recorded late: the archive did not exist */
    if (tk.on) tk_leave();
    return rc;
}

/* MPI_Init_thread grants at most MPI_THREAD_FUNNELED: one location, one thread. */
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    TK_ENTER("MPI_Init_thread", FUNCTION);
    if (required > MPI_THREAD_FUNNELED) required = MPI_THREAD_FUNNELED;
    int rc = PMPI_Init_thread(argc, argv, required, provided);
    start();
    (void)on_;
    if (tk.on) tk_leave();
    return rc;
}

/* --- end --- */

/* MPI_Finalize closes all open regions: what the program does after it is lost. */
int MPI_Finalize(void)
{
    TK_ENTER("MPI_Finalize", FUNCTION);
    if (!on_) return PMPI_Finalize();
    PMPI_Barrier(tk.comm);
    measure(1);
    while (depth > 0) pop();
    tk.last = tk_now();
    OTF2_EvtWriter_ProgramEnd(tk.writer, NULL, tk.last, 0);
    tk.on = 0;
    finished = 1;
    tk_write_definitions();
    PMPI_Comm_free(&tk.comm);
    return PMPI_Finalize();
}
