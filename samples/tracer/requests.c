/* requests.c: requests from post to completion.
 *
 * The table keeps requests in the order of their posts. MPI libraries hand out
 * one and the same handle for all requests that were complete at once, so an
 * entry is found by handle and variable first, then as the oldest of its
 * handle. */
#include "otf2pmpi.h"

#include <stdlib.h>
#include <string.h>

static tk_request *table;
static int count, room;
static uint64_t next_id;

uint64_t tk_request_id(void) { return next_id++; }

void tk_request_add(tk_request r, MPI_Request *where)
{
    if (count == room) {
        room = room ? room * 2 : 64;
        table = realloc(table, (size_t)room * sizeof *table);
    }
    r.handle = *where;
    r.where = where;
    table[count++] = r;
}

static tk_request *find(MPI_Request handle, const MPI_Request *where)
{
    tk_request *oldest = NULL;
    for (int i = 0; i < count; i++) {
        if (table[i].handle != handle) continue;
        if (table[i].where == where) return &table[i];
        if (!oldest) oldest = &table[i];
    }
    return oldest;
}

static void drop(tk_request *r)
{
    count--;
    memmove(r, r + 1, (size_t)(&table[count] - r) * sizeof *r);
}

/* complete records the end of a request; persistent ones stay for another start. */
static void complete(MPI_Request handle, const MPI_Request *where, const MPI_Status *s)
{
    if (handle == MPI_REQUEST_NULL) return;
    tk_request *r = find(handle, where);
    if (!r || !r->active) return;
    int cancelled = 0;
    if (r->kind == TK_REQ_SEND || r->kind == TK_REQ_RECV) PMPI_Test_cancelled(s, &cancelled);
    if (cancelled) TK_EVENT(MpiRequestCancelled, r->id);
    else if (r->kind == TK_REQ_SEND) TK_EVENT(MpiIsendComplete, r->id);
    else if (r->kind == TK_REQ_RECV)
        TK_EVENT(MpiIrecv, (uint32_t)s->MPI_SOURCE, r->comm, (uint32_t)s->MPI_TAG, tk_received(s), r->id);
    else if (r->kind == TK_REQ_COLL)
        TK_EVENT(NonBlockingCollectiveComplete, r->op, r->comm, r->root, r->bytes, r->received, r->id);
    r->active = 0;
    if (!r->persistent) drop(r);
}

/* tested records that a request was asked for and found incomplete. */
static void tested(MPI_Request handle, const MPI_Request *where)
{
    tk_request *r = handle == MPI_REQUEST_NULL ? NULL : find(handle, where);
    if (r && r->active && r->kind != TK_REQ_NOTHING) TK_EVENT(MpiRequestTest, r->id);
}

static void tested_all(int n, const MPI_Request *saved, const MPI_Request *where)
{
    for (int i = 0; i < n; i++) tested(saved[i], &where[i]);
}

/* A call on n requests: copies of the handles, since MPI overwrites them, and
 * statuses even where the program wants none. */
typedef struct { MPI_Request *saved; MPI_Status *status, *own; } many;

static many begin_many(int n, const MPI_Request *requests, MPI_Status *statuses)
{
    many m = {malloc(((size_t)n + 1) * sizeof *m.saved), statuses, NULL};
    if (n > 0) memcpy(m.saved, requests, (size_t)n * sizeof *m.saved);
    if (statuses == MPI_STATUSES_IGNORE) m.status = m.own = calloc((size_t)n + 1, sizeof *m.own);
    return m;
}

static void end_many(many m)
{
    free(m.saved);
    free(m.own);
}

static void complete_all(int n, const many *m, const MPI_Request *where)
{
    for (int i = 0; i < n; i++) complete(m->saved[i], &where[i], &m->status[i]);
}

static void complete_some(int n, const int *indices, const many *m, const MPI_Request *where)
{
    for (int i = 0; i < n; i++) complete(m->saved[indices[i]], &where[indices[i]], &m->status[i]);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    TK_ENTER("MPI_Wait", POINT2POINT);
    MPI_Request saved = *request;
    MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
    int rc = PMPI_Wait(request, s);
    if (on_ && rc == MPI_SUCCESS) complete(saved, request, s);
    TK_LEAVE();
    return rc;
}

int MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[])
{
    TK_ENTER("MPI_Waitall", POINT2POINT);
    many m = begin_many(n, requests, statuses);
    int rc = PMPI_Waitall(n, requests, m.status);
    if (on_ && rc == MPI_SUCCESS) complete_all(n, &m, requests);
    end_many(m);
    TK_LEAVE();
    return rc;
}

int MPI_Waitany(int n, MPI_Request requests[], int *index, MPI_Status *status)
{
    TK_ENTER("MPI_Waitany", POINT2POINT);
    many m = begin_many(n, requests, MPI_STATUSES_IGNORE);
    MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
    int rc = PMPI_Waitany(n, requests, index, s);
    if (on_ && rc == MPI_SUCCESS && *index != MPI_UNDEFINED)
        complete(m.saved[*index], &requests[*index], s);
    end_many(m);
    TK_LEAVE();
    return rc;
}

int MPI_Waitsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
    TK_ENTER("MPI_Waitsome", POINT2POINT);
    many m = begin_many(n, requests, statuses);
    int rc = PMPI_Waitsome(n, requests, done, indices, m.status);
    if (on_ && rc == MPI_SUCCESS && *done != MPI_UNDEFINED)
        complete_some(*done, indices, &m, requests);
    end_many(m);
    TK_LEAVE();
    return rc;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    TK_ENTER("MPI_Test", POINT2POINT);
    MPI_Request saved = *request;
    MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
    int rc = PMPI_Test(request, flag, s);
    if (on_ && rc == MPI_SUCCESS) {
        if (*flag) complete(saved, request, s);
        else tested(saved, request);
    }
    TK_LEAVE();
    return rc;
}

int MPI_Testall(int n, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    TK_ENTER("MPI_Testall", POINT2POINT);
    many m = begin_many(n, requests, statuses);
    int rc = PMPI_Testall(n, requests, flag, m.status);
    if (on_ && rc == MPI_SUCCESS) {
        if (*flag) complete_all(n, &m, requests);
        else tested_all(n, m.saved, requests);
    }
    end_many(m);
    TK_LEAVE();
    return rc;
}

int MPI_Testany(int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    TK_ENTER("MPI_Testany", POINT2POINT);
    many m = begin_many(n, requests, MPI_STATUSES_IGNORE);
    MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
    int rc = PMPI_Testany(n, requests, index, flag, s);
    if (on_ && rc == MPI_SUCCESS) {
        if (!*flag) tested_all(n, m.saved, requests);
        else if (*index != MPI_UNDEFINED) complete(m.saved[*index], &requests[*index], s);
    }
    end_many(m);
    TK_LEAVE();
    return rc;
}

int MPI_Testsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
    TK_ENTER("MPI_Testsome", POINT2POINT);
    many m = begin_many(n, requests, statuses);
    int rc = PMPI_Testsome(n, requests, done, indices, m.status);
    if (on_ && rc == MPI_SUCCESS && *done != MPI_UNDEFINED) {
        if (*done) complete_some(*done, indices, &m, requests);
        else tested_all(n, m.saved, requests);
    }
    end_many(m);
    TK_LEAVE();
    return rc;
}

int MPI_Cancel(MPI_Request *request)
{
    TK_ENTER("MPI_Cancel", POINT2POINT);
    int rc = PMPI_Cancel(request);
    TK_LEAVE();
    return rc;
}

/* A request freed while active never gets a completion record: MPI tells nobody. */
int MPI_Request_free(MPI_Request *request)
{
    TK_ENTER("MPI_Request_free", POINT2POINT);
    tk_request *r = on_ ? find(*request, request) : NULL;
    int rc = PMPI_Request_free(request);
    if (r && rc == MPI_SUCCESS) drop(r);
    TK_LEAVE();
    return rc;
}

/* starting records the post of a persistent request, before MPI starts it. */
static tk_request *starting(MPI_Request *request)
{
    tk_request *r = find(*request, request);
    if (!r) return NULL;
    r->active = 1;
    if (r->kind == TK_REQ_SEND) TK_EVENT(MpiIsend, r->peer, r->comm, r->tag, r->bytes, r->id);
    if (r->kind == TK_REQ_RECV) TK_EVENT(MpiIrecvRequest, r->id);
    return r;
}

/* The library may put another request behind the variable when it starts. */
static void started(tk_request *r, const MPI_Request *request)
{
    if (r) r->handle = *request;
}

int MPI_Start(MPI_Request *request)
{
    TK_ENTER("MPI_Start", POINT2POINT);
    tk_request *r = on_ ? starting(request) : NULL;
    int rc = PMPI_Start(request);
    started(r, request);
    TK_LEAVE();
    return rc;
}

int MPI_Startall(int n, MPI_Request requests[])
{
    TK_ENTER("MPI_Startall", POINT2POINT);
    tk_request **r = calloc((size_t)n + 1, sizeof *r);
    for (int i = 0; on_ && i < n; i++) r[i] = starting(&requests[i]);
    int rc = PMPI_Startall(n, requests);
    for (int i = 0; i < n; i++) started(r[i], &requests[i]);
    free(r);
    TK_LEAVE();
    return rc;
}
