#include "bridge.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// XNNPACK reports the reason of a failure only to its log, and its own log functions print. These take their place when
// the archive is linked: the linker finds them first and never needs the object that holds the others.

static __thread struct xg_message collected;
static __thread size_t length;

void xg_message_begin(void) {
  length = 0;
  collected.text[0] = '\0';
}

void xg_message_end(struct xg_message* out) { memcpy(out->text, collected.text, length + 1); }

static void collect(const char* format, va_list args) {
  if (length != 0 && length + 3 < sizeof(collected.text)) {
    memcpy(collected.text + length, "; ", 3);
    length += 2;
  }
  const size_t room = sizeof(collected.text) - length;
  const int n = vsnprintf(collected.text + length, room, format, args);
  if (n > 0) {
    length += (size_t) n < room ? (size_t) n : room - 1;
  }
}

void xnn_vlog_error(const char* format, va_list args) { collect(format, args); }

void xnn_vlog_fatal(const char* format, va_list args) { collect(format, args); }
