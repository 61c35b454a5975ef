/* table.c: interning tables. A key is any run of bytes; equal keys get equal
 * ids, ids count from 0 in order of first appearance. Nothing is ever removed. */
#include "otf2pmpi.h"

#include <stdlib.h>
#include <string.h>

/* hash is FNV-1a. */
static uint64_t hash(const void *key, size_t size)
{
    const unsigned char *p = key;
    uint64_t h = 14695981039346656037ull;
    for (size_t i = 0; i < size; i++) h = (h ^ p[i]) * 1099511628211ull;
    return h;
}

/* slot_of returns the slot that holds the key, or the empty one where it goes. */
static uint32_t slot_of(const tk_table *t, const void *key, size_t size)
{
    uint32_t s = hash(key, size) & (t->slots - 1);
    for (;; s = (s + 1) & (t->slots - 1)) {
        if (!t->index[s]) return s;
        size_t n;
        const void *k = tk_key(t, t->index[s] - 1, &n);
        if (n == size && !memcmp(k, key, size)) return s;
    }
}

/* widen doubles the hash index and places all ids anew. */
static void widen(tk_table *t)
{
    t->slots = t->slots ? t->slots * 2 : 64;
    free(t->index);
    t->index = calloc(t->slots, sizeof *t->index);
    for (uint32_t id = 0; id < t->count; id++) {
        size_t n;
        const void *k = tk_key(t, id, &n);
        t->index[slot_of(t, k, n)] = id + 1;
    }
}

/* append stores the bytes of a new key. */
static void append(tk_table *t, const void *key, size_t size)
{
    if (t->count + 2 > t->room_ids) {
        t->room_ids = t->room_ids ? t->room_ids * 2 : 64;
        t->start = realloc(t->start, t->room_ids * sizeof *t->start);
        t->start[0] = 0;
    }
    if (t->used + size > t->room) {
        t->room = (t->used + size) * 2;
        t->bytes = realloc(t->bytes, t->room);
    }
    if (size) memcpy(t->bytes + t->used, key, size);
    t->used += size;
    t->start[++t->count] = t->used;
}

uint32_t tk_intern(tk_table *t, const void *key, size_t size)
{
    if (2 * t->count >= t->slots) widen(t);
    uint32_t s = slot_of(t, key, size);
    if (!t->index[s]) {
        append(t, key, size);
        t->index[s] = t->count;
    }
    return t->index[s] - 1;
}

uint32_t tk_intern_string(tk_table *t, const char *s) { return tk_intern(t, s, strlen(s) + 1); }

const void *tk_key(const tk_table *t, uint32_t id, size_t *size)
{
    if (size) *size = t->start[id + 1] - t->start[id];
    return t->bytes + t->start[id];
}
