#include "bridge.h"

#include <string.h>

enum xnn_status xg_program_create(size_t steps, size_t copies, struct xg_program** out) {
  struct xg_program* p = xg_alloc(xg_purpose_bridge, sizeof(*p));
  if (p == NULL) {
    return xnn_status_out_of_memory;
  }
  p->steps_count = steps;
  p->steps = xg_alloc(xg_purpose_bridge, steps * sizeof(*p->steps));
  p->copies_count = copies;
  p->copies = xg_alloc(xg_purpose_bridge, copies * sizeof(*p->copies));
  if (p->steps == NULL || p->copies == NULL) {
    xg_program_delete(p);
    return xnn_status_out_of_memory;
  }
  *out = p;
  return xnn_status_success;
}

void xg_program_delete(struct xg_program* program) {
  if (program == NULL) {
    return;
  }
  xg_free(program->steps);
  xg_free(program->copies);
  xg_free(program);
}

enum xnn_status xg_run(struct xg_program* p) {
  if (p->steps_count != 0) {
    xg_message_begin();
  }
  for (size_t i = 0; i < p->steps_count; i++) {
    const struct xg_step* step = &p->steps[i];
    const enum xnn_status status = step->tiles != NULL ? xg_tiles_run(step->tiles) : xg_runtime_run(step->runtime);
    if (status != xnn_status_success) {
      xg_message_end(&p->message);
      return status;
    }
  }
  for (size_t i = 0; i < p->copies_count; i++) {
    memcpy(p->copies[i].to, p->copies[i].from, p->copies[i].size);
  }
  return xnn_status_success;
}
