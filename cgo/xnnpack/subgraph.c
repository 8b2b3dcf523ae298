#include "bridge.h"

enum xnn_status xg_subgraph_create(uint32_t externals, xnn_subgraph_t* subgraph, struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status = xnn_create_subgraph(externals, 0, subgraph);
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_tensor(xnn_subgraph_t subgraph, const struct xg_tensor* t, uint32_t* id, struct xg_message* message) {
  xg_message_begin();
  enum xnn_status status;
  switch (t->datatype) {
    case xnn_datatype_qint8:
    case xnn_datatype_quint8:
    case xnn_datatype_qint32:
      status = xnn_define_quantized_tensor_value(subgraph, t->datatype, t->zero_point, t->scale, t->rank, t->dims, t->data,
                                                 t->external_id, t->flags, id);
      break;
    case xnn_datatype_qcint8:
    case xnn_datatype_qcint32:
    case xnn_datatype_qcint4:
      status = xnn_define_channelwise_quantized_tensor_value_v2(subgraph, t->datatype, t->zero_point, t->scales, t->rank,
                                                                t->axis, t->dims, t->data, t->external_id, t->flags, id);
      break;
    case xnn_datatype_qbint4:
      status = xnn_define_blockwise_quantized_tensor_value(subgraph, t->datatype, t->zero_point, t->scales, t->rank, t->axis,
                                                           t->block, t->dims, t->data, t->external_id, t->flags, id);
      break;
    case xnn_datatype_qdint8:
      status = xnn_define_dynamically_quantized_tensor_value(subgraph, t->datatype, t->rank, t->inner, t->dims, t->external_id,
                                                             t->flags, id);
      break;
    default:
      status = xnn_define_tensor_value(subgraph, t->datatype, t->rank, t->dims, t->data, t->external_id, t->flags, id);
  }
  xg_message_end(message);
  return status;
}
