// The column `NAME`: how many words a page has. Change `analyze` at the end to what you want to know.
//
// Build it with clang and lld, and ask with it:
//
//   clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -o NAME.wasm NAME.c
//   mattock query DIR 'select name, NAME' --analyzer NAME.wasm
//
// Copied to DIR/analyzers/NAME.wasm it is found without --analyzer. The column's name is the file's name. What the column
// holds is said by the exported name of the function: analyze_text, analyze_integer, analyze_float, analyze_boolean, analyze_time,
// analyze_text_list or analyze_integer_list; a module has one of them. There is only the document: no files, no clock, no network.
// Each document gets a new memory, so nothing is remembered from one to the next.

#define IMPORT(name) __attribute__((import_module("mattock"), import_name(name)))

// These copy a part of the document to `start`, as far as `capacity` reaches, and return its whole length; -1 if there is none.
IMPORT("url") int mattock_url(char *start, unsigned capacity);
IMPORT("head") int mattock_head(char *start, unsigned capacity);
IMPORT("header") int mattock_header(const char *name, unsigned name_length, char *start, unsigned capacity);
IMPORT("body") int mattock_body(char *start, unsigned capacity);
IMPORT("content") int mattock_content(char *start, unsigned capacity);  // the body in UTF-8, markup and all
IMPORT("text") int mattock_text(char *start, unsigned capacity);        // the main text in UTF-8
IMPORT("status") int mattock_status(void);
IMPORT("time") long long mattock_time(void);  // microseconds since 1970
IMPORT("truncated") int mattock_truncated(void);

// These give the value; for lists they are called again and again. Where nothing is given, the value is null.
IMPORT("give_text") void give_text(const char *start, unsigned length);
IMPORT("give_integer") void give_integer(long long value);
IMPORT("give_float") void give_float(double value);
IMPORT("give_boolean") void give_boolean(int value);
IMPORT("give_time") void give_time(long long microseconds);
IMPORT("give_list") void give_list(void);  // a list that may stay empty
IMPORT("fail") _Noreturn void fail(const char *reason, unsigned length);

// Room behind the program's own data. There is one such place: it is for one part at a time.
extern char __heap_base;

static char *room(unsigned length) {
    unsigned long needed = ((unsigned long)&__heap_base + length + 65535) / 65536;
    unsigned long pages = __builtin_wasm_memory_size(0);
    if (needed > pages) __builtin_wasm_memory_grow(0, needed - pages);
    return &__heap_base;
}

__attribute__((export_name("analyze_integer"))) void analyze(void) {
    int length = mattock_text(0, 0);
    if (length < 0) return;
    char *text = room(length);
    mattock_text(text, length);
    long long words = 0;
    int inside = 0;
    for (int at = 0; at < length; at++) {
        int blank = text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r');
        words += !blank && !inside;
        inside = !blank;
    }
    give_integer(words);
}
