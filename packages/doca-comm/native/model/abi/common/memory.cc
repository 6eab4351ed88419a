// Memory and buffers: doca_mmap, doca_buf, and their sources.
#include "model/abi/common/versions.h"
#include "model/base/boundary.h"
#include "model/memory/buffers.h"
#include "model/memory/mmap.h"

VERBS_DOCA_STABLE(doca_buf_chain_list);
VERBS_DOCA_STABLE(doca_buf_dec_refcount);
VERBS_DOCA_STABLE(doca_buf_get_data);
VERBS_DOCA_STABLE(doca_buf_get_data_len);
VERBS_DOCA_STABLE(doca_buf_get_head);
VERBS_DOCA_STABLE(doca_buf_get_last_in_list);
VERBS_DOCA_STABLE(doca_buf_get_len);
VERBS_DOCA_STABLE(doca_buf_get_list_len);
VERBS_DOCA_STABLE(doca_buf_get_next_in_list);
VERBS_DOCA_STABLE(doca_buf_get_refcount);
VERBS_DOCA_STABLE(doca_buf_inc_refcount);
VERBS_DOCA_STABLE(doca_buf_inventory_buf_dup);
VERBS_DOCA_STABLE(doca_buf_inventory_buf_get_by_addr);
VERBS_DOCA_STABLE(doca_buf_inventory_buf_get_by_args);
VERBS_DOCA_STABLE(doca_buf_inventory_buf_get_by_data);
VERBS_DOCA_STABLE(doca_buf_inventory_create);
VERBS_DOCA_STABLE(doca_buf_inventory_destroy);
VERBS_DOCA_STABLE(doca_buf_inventory_get_num_elements);
VERBS_DOCA_STABLE(doca_buf_inventory_get_num_free_elements);
VERBS_DOCA_STABLE(doca_buf_inventory_get_user_data);
VERBS_DOCA_STABLE(doca_buf_inventory_set_user_data);
VERBS_DOCA_STABLE(doca_buf_inventory_start);
VERBS_DOCA_STABLE(doca_buf_inventory_stop);
VERBS_DOCA_STABLE(doca_buf_is_first_in_list);
VERBS_DOCA_STABLE(doca_buf_is_in_list);
VERBS_DOCA_STABLE(doca_buf_is_last_in_list);
VERBS_DOCA_STABLE(doca_buf_pool_buf_alloc);
VERBS_DOCA_STABLE(doca_buf_pool_create);
VERBS_DOCA_STABLE(doca_buf_pool_destroy);
VERBS_DOCA_STABLE(doca_buf_pool_get_element_alignment);
VERBS_DOCA_STABLE(doca_buf_pool_get_num_elements);
VERBS_DOCA_STABLE(doca_buf_pool_get_num_free_elements);
VERBS_DOCA_STABLE(doca_buf_pool_get_user_data);
VERBS_DOCA_STABLE(doca_buf_pool_set_element_alignment);
VERBS_DOCA_STABLE(doca_buf_pool_set_user_data);
VERBS_DOCA_STABLE(doca_buf_pool_start);
VERBS_DOCA_STABLE(doca_buf_pool_stop);
VERBS_DOCA_STABLE(doca_buf_reset_data_len);
VERBS_DOCA_STABLE(doca_buf_set_data);
VERBS_DOCA_STABLE(doca_buf_set_data_len);
VERBS_DOCA_STABLE(doca_buf_unchain_list);
VERBS_DOCA_STABLE(doca_mmap_add_dev);
VERBS_DOCA_STABLE(doca_mmap_cap_is_create_from_export_pci_supported);
VERBS_DOCA_STABLE(doca_mmap_cap_is_export_pci_supported);
VERBS_DOCA_STABLE(doca_mmap_create);
VERBS_DOCA_STABLE(doca_mmap_destroy);
VERBS_DOCA_STABLE(doca_mmap_get_exported);
VERBS_DOCA_STABLE(doca_mmap_get_from_export);
VERBS_DOCA_STABLE(doca_mmap_get_max_num_devices);
VERBS_DOCA_STABLE(doca_mmap_get_memrange);
VERBS_DOCA_STABLE(doca_mmap_get_num_bufs);
VERBS_DOCA_STABLE(doca_mmap_get_user_data);
VERBS_DOCA_STABLE(doca_mmap_rm_dev);
VERBS_DOCA_STABLE(doca_mmap_set_dmabuf_memrange);
VERBS_DOCA_STABLE(doca_mmap_set_free_cb);
VERBS_DOCA_STABLE(doca_mmap_set_max_num_devices);
VERBS_DOCA_STABLE(doca_mmap_set_memrange);
VERBS_DOCA_STABLE(doca_mmap_set_permissions);
VERBS_DOCA_STABLE(doca_mmap_set_user_data);
VERBS_DOCA_STABLE(doca_mmap_start);
VERBS_DOCA_STABLE(doca_mmap_stop);

using verbs::doca_comm::model::Bluefield;
using verbs::doca_comm::model::BufferSource;
using verbs::doca_comm::model::BufPoolPool;
using verbs::doca_comm::model::contained;
using verbs::doca_comm::model::find_buf;
using verbs::doca_comm::model::find_mmap;
using verbs::doca_comm::model::InventoryPool;
using verbs::doca_comm::model::Mmap;

namespace {

template <typename Call>
doca_error_t with(const doca_mmap* handle, Call&& call) {
  return contained([&]() -> doca_error_t {
    Mmap* mmap = find_mmap(handle);
    return mmap ? call(*mmap) : DOCA_ERROR_INVALID_VALUE;
  });
}

BufferSource* source_of(const doca_buf_inventory* handle) { return InventoryPool::get().find(handle); }
BufferSource* source_of(const doca_buf_pool* handle) { return BufPoolPool::get().find(handle); }

template <typename Source, typename Call>
doca_error_t from(const Source* handle, Call&& call) {
  return contained([&]() -> doca_error_t {
    BufferSource* source = source_of(handle);
    return source ? call(*source) : DOCA_ERROR_INVALID_VALUE;
  });
}

template <typename Source>
doca_error_t start(Source* handle, bool started) {
  return from(handle, [&](BufferSource& source) {
    source.set_started(started);
    return DOCA_SUCCESS;
  });
}

template <typename Pool, typename Source>
doca_error_t destroy(Source* handle) {
  return from(handle, [&](const BufferSource& source) -> doca_error_t {
    if (source.free_elements() != source.elements()) return DOCA_ERROR_IN_USE;
    return Pool::get().remove(handle) ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
  });
}

template <typename Source>
doca_error_t count(const Source* handle, std::uint32_t* result, std::size_t (BufferSource::*which)() const) {
  return from(handle, [&](const BufferSource& source) {
    if (!result) return DOCA_ERROR_INVALID_VALUE;
    *result = static_cast<std::uint32_t>((source.*which)());
    return DOCA_SUCCESS;
  });
}

template <typename Source>
doca_error_t get_user_data(const Source* handle, doca_data* data) {
  return from(handle, [&](const BufferSource& source) {
    if (!data) return DOCA_ERROR_INVALID_VALUE;
    *data = source.user_data;
    return DOCA_SUCCESS;
  });
}

template <typename Source>
doca_error_t set_source_data(Source* handle, doca_data data) {
  return from(handle, [&](BufferSource& source) {
    source.user_data = data;
    return DOCA_SUCCESS;
  });
}

// The value of a buffer.
template <typename Value, typename Get>
doca_error_t get(const doca_buf* handle, Value* value, Get&& read) {
  const doca_buf* buf = find_buf(handle);
  if (!buf || !value) return DOCA_ERROR_INVALID_VALUE;
  *value = read(*buf);
  return DOCA_SUCCESS;
}

// Whether the data is in the buffer.
bool fits(const std::uint8_t* head, std::size_t length, const void* data, std::size_t data_length) {
  const auto* at = static_cast<const std::uint8_t*>(data);
  return at >= head && at <= head + length && data_length <= static_cast<std::size_t>(head + length - at);
}

doca_buf* last_of(doca_buf* buf) {
  while (buf->next) buf = buf->next;
  return buf;
}

}  // namespace

extern "C" {

doca_error_t doca_mmap_create(doca_mmap** mmap) {
  return contained([&]() -> doca_error_t {
    if (!mmap) return DOCA_ERROR_INVALID_VALUE;
    std::shared_ptr<Mmap> created;
    if (const doca_error_t error = Mmap::create(&created)) return error;
    *mmap = verbs::doca_comm::model::publish(std::move(created));
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_mmap_destroy(doca_mmap* mmap) {
  return with(mmap, [&](Mmap& memory) -> doca_error_t {
    if (memory.in_use()) return DOCA_ERROR_NOT_PERMITTED;
    memory.give_back();
    return verbs::doca_comm::model::destroy_mmap(mmap) ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_error_t doca_mmap_start(doca_mmap* mmap) {
  return with(mmap, [](Mmap& memory) { return memory.start(); });
}
doca_error_t doca_mmap_stop(doca_mmap* mmap) {
  return with(mmap, [](Mmap& memory) { return memory.stop(); });
}
doca_error_t doca_mmap_add_dev(doca_mmap* mmap, doca_dev* dev) {
  return with(mmap, [&](Mmap& memory) { return dev ? memory.add(dev) : DOCA_ERROR_INVALID_VALUE; });
}
doca_error_t doca_mmap_rm_dev(doca_mmap* mmap, doca_dev* dev) {
  return with(mmap, [&](Mmap& memory) { return dev ? memory.remove(dev) : DOCA_ERROR_INVALID_VALUE; });
}
doca_error_t doca_mmap_set_memrange(doca_mmap* mmap, void* addr, std::size_t len) {
  return with(mmap, [&](Mmap& memory) { return memory.set_range(addr, len); });
}
doca_error_t doca_mmap_set_dmabuf_memrange(doca_mmap* mmap, int dmabuf_fd, void* dmabuf_addr, std::size_t dmabuf_offset,
                                           std::size_t len) {
  return with(mmap, [&](Mmap& memory) { return memory.set_file_range(dmabuf_fd, dmabuf_addr, dmabuf_offset, len); });
}
doca_error_t doca_mmap_get_memrange(const doca_mmap* mmap, void** addr, std::size_t* len) {
  return with(mmap, [&](const Mmap& memory) {
    if (!addr || !len) return DOCA_ERROR_INVALID_VALUE;
    if (!memory.has_range()) return DOCA_ERROR_BAD_STATE;
    *addr = memory.address();
    *len = memory.length();
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_mmap_set_permissions(doca_mmap* mmap, std::uint32_t access_mask) {
  return with(mmap, [&](Mmap& memory) { return memory.set_permissions(access_mask); });
}
doca_error_t doca_mmap_set_free_cb(doca_mmap* mmap, doca_mmap_memrange_free_cb_t* free_cb, void* opaque) {
  return with(mmap, [&](Mmap& memory) { return memory.set_free(free_cb, opaque); });
}
doca_error_t doca_mmap_set_max_num_devices(doca_mmap* mmap, std::uint32_t max_num_devices) {
  return with(mmap, [&](Mmap& memory) { return memory.set_max_devices(max_num_devices); });
}
doca_error_t doca_mmap_get_max_num_devices(const doca_mmap* mmap, std::uint32_t* max_num_devices) {
  return with(mmap, [&](const Mmap& memory) {
    if (!max_num_devices) return DOCA_ERROR_INVALID_VALUE;
    *max_num_devices = memory.max_devices();
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_mmap_set_user_data(doca_mmap* mmap, doca_data user_data) {
  return with(mmap, [&](Mmap& memory) { return memory.set_user_data(user_data); });
}
doca_error_t doca_mmap_get_user_data(const doca_mmap* mmap, doca_data* user_data) {
  return with(mmap, [&](const Mmap& memory) {
    if (!user_data) return DOCA_ERROR_INVALID_VALUE;
    *user_data = memory.user_data();
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_mmap_get_num_bufs(const doca_mmap* mmap, std::uint32_t* num_bufs) {
  return with(mmap, [&](const Mmap& memory) {
    if (!num_bufs) return DOCA_ERROR_INVALID_VALUE;
    *num_bufs = memory.buffers;
    return DOCA_SUCCESS;
  });
}
// Memory is exported to no other device here.
doca_error_t doca_mmap_get_exported(const doca_mmap* mmap, std::uint8_t* exported) {
  return with(mmap, [&](const Mmap&) {
    if (!exported) return DOCA_ERROR_INVALID_VALUE;
    *exported = 0;
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_mmap_get_from_export(const doca_mmap* mmap, std::uint8_t* from_export) {
  return doca_mmap_get_exported(mmap, from_export);
}
doca_error_t doca_mmap_cap_is_export_pci_supported(const doca_devinfo* devinfo, std::uint8_t* mmap_export) {
  return contained([&]() -> doca_error_t {
    if (!Bluefield::get().knows(devinfo) || !mmap_export) return DOCA_ERROR_INVALID_VALUE;
    *mmap_export = 0;
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_mmap_cap_is_create_from_export_pci_supported(const doca_devinfo* devinfo, std::uint8_t* from_export) {
  return doca_mmap_cap_is_export_pci_supported(devinfo, from_export);
}

doca_error_t doca_buf_inc_refcount(doca_buf* buf, std::uint16_t* refcount) {
  if (!find_buf(buf)) return DOCA_ERROR_INVALID_VALUE;
  if (buf->first) return DOCA_ERROR_NOT_PERMITTED;
  if (buf->references == UINT16_MAX) return DOCA_ERROR_TOO_BIG;
  if (refcount) *refcount = buf->references;
  ++buf->references;
  return DOCA_SUCCESS;
}
doca_error_t doca_buf_dec_refcount(doca_buf* buf, std::uint16_t* refcount) {
  if (!find_buf(buf)) return DOCA_ERROR_INVALID_VALUE;
  if (buf->first) return DOCA_ERROR_NOT_PERMITTED;
  if (refcount) *refcount = buf->references;
  verbs::doca_comm::model::release(*buf);
  return DOCA_SUCCESS;
}
doca_error_t doca_buf_get_refcount(const doca_buf* buf, std::uint16_t* refcount) {
  return get(buf, refcount, [](const doca_buf& it) { return it.references; });
}
doca_error_t doca_buf_get_len(const doca_buf* buf, std::size_t* len) {
  return get(buf, len, [](const doca_buf& it) { return it.length; });
}
doca_error_t doca_buf_get_head(const doca_buf* buf, void** head) {
  return get(buf, head, [](const doca_buf& it) { return it.head; });
}
doca_error_t doca_buf_get_data_len(const doca_buf* buf, std::size_t* data_len) {
  return get(buf, data_len, [](const doca_buf& it) { return it.data_length; });
}
doca_error_t doca_buf_get_data(const doca_buf* buf, void** data) {
  return get(buf, data, [](const doca_buf& it) { return it.data; });
}
// INVALID_VALUE for data outside of the buffer, where the documents leave the behaviour open.
doca_error_t doca_buf_set_data(doca_buf* buf, void* data, std::size_t data_len) {
  if (!find_buf(buf) || !data || !fits(buf->head, buf->length, data, data_len)) return DOCA_ERROR_INVALID_VALUE;
  buf->data = static_cast<std::uint8_t*>(data);
  buf->data_length = data_len;
  return DOCA_SUCCESS;
}
doca_error_t doca_buf_set_data_len(doca_buf* buf, std::size_t data_len) {
  return doca_buf_set_data(buf, find_buf(buf) ? buf->data : nullptr, data_len);
}
doca_error_t doca_buf_reset_data_len(doca_buf* buf) { return doca_buf_set_data_len(buf, 0); }

doca_error_t doca_buf_get_next_in_list(doca_buf* buf, doca_buf** next_buf) {
  return get(buf, next_buf, [](const doca_buf& it) { return it.next; });
}
doca_error_t doca_buf_get_last_in_list(doca_buf* buf, doca_buf** last_buf) {
  return get(buf, last_buf, [&](const doca_buf&) { return last_of(buf); });
}
doca_error_t doca_buf_is_last_in_list(const doca_buf* buf, std::uint8_t* is_last) {
  return get(buf, is_last, [](const doca_buf& it) { return it.next ? 0 : 1; });
}
doca_error_t doca_buf_is_first_in_list(const doca_buf* buf, std::uint8_t* is_first) {
  return get(buf, is_first, [](const doca_buf& it) { return it.first ? 0 : 1; });
}
doca_error_t doca_buf_is_in_list(const doca_buf* buf, std::uint8_t* is_in_list) {
  return get(buf, is_in_list, [](const doca_buf& it) { return it.next || it.first ? 1 : 0; });
}
doca_error_t doca_buf_get_list_len(const doca_buf* buf, std::uint32_t* num_elements) {
  if (find_buf(buf) && buf->first) return DOCA_ERROR_NOT_PERMITTED;
  return get(buf, num_elements, [](const doca_buf& it) {
    std::uint32_t elements = 0;
    for (const doca_buf* each = &it; each; each = each->next) ++elements;
    return elements;
  });
}
doca_error_t doca_buf_chain_list(doca_buf* list1, doca_buf* list2) {
  if (!find_buf(list1) || !find_buf(list2) || list1 == list2) return DOCA_ERROR_INVALID_VALUE;
  if (list1->first || list2->first || list2->references != 1) return DOCA_ERROR_NOT_PERMITTED;
  last_of(list1)->next = list2;
  for (doca_buf* each = list2; each; each = each->next) each->first = list1;
  return DOCA_SUCCESS;
}
doca_error_t doca_buf_unchain_list(doca_buf* list1, doca_buf* list2) {
  if (!find_buf(list1) || !find_buf(list2) || list1 == list2) return DOCA_ERROR_INVALID_VALUE;
  doca_buf* before = list1;
  while (before && before->next != list2) before = before->next;
  if (!before) return DOCA_ERROR_INVALID_VALUE;
  before->next = nullptr;
  list2->first = nullptr;
  for (doca_buf* each = list2->next; each; each = each->next) each->first = list2;
  return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_create(std::size_t num_elements, doca_buf_inventory** inventory) {
  return contained([&]() -> doca_error_t {
    if (!inventory) return DOCA_ERROR_INVALID_VALUE;
    if (const doca_error_t error = BufferSource::check(num_elements)) return error;
    *inventory = InventoryPool::get().add(std::make_shared<BufferSource>(num_elements));
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_buf_inventory_destroy(doca_buf_inventory* inventory) { return destroy<InventoryPool>(inventory); }
doca_error_t doca_buf_inventory_start(doca_buf_inventory* inventory) { return start(inventory, true); }
doca_error_t doca_buf_inventory_stop(doca_buf_inventory* inventory) { return start(inventory, false); }
doca_error_t doca_buf_inventory_buf_get_by_args(doca_buf_inventory* inventory, doca_mmap* mmap, void* addr,
                                                std::size_t len, void* data, std::size_t data_len, doca_buf** buf) {
  return from(inventory, [&](BufferSource& source) -> doca_error_t {
    const Mmap* memory = find_mmap(mmap);
    if (!memory || !buf || !memory->contains(addr, len)) return DOCA_ERROR_INVALID_VALUE;
    if (!source.started() || !memory->started()) return DOCA_ERROR_BAD_STATE;
    if (!fits(static_cast<const std::uint8_t*>(addr), len, data, data_len)) return DOCA_ERROR_INVALID_VALUE;
    doca_buf* taken = source.take(mmap->object, addr, len, data, data_len);
    if (!taken) return DOCA_ERROR_NO_MEMORY;
    *buf = taken;
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_buf_inventory_buf_get_by_addr(doca_buf_inventory* inventory, doca_mmap* mmap, void* addr,
                                                std::size_t len, doca_buf** buf) {
  return doca_buf_inventory_buf_get_by_args(inventory, mmap, addr, len, addr, 0, buf);
}
doca_error_t doca_buf_inventory_buf_get_by_data(doca_buf_inventory* inventory, doca_mmap* mmap, void* data,
                                                std::size_t data_len, doca_buf** buf) {
  return doca_buf_inventory_buf_get_by_args(inventory, mmap, data, data_len, data, data_len, buf);
}
// A buffer of the same memory. Decided here: of the head of a list, the buffers behind it are not duplicated.
doca_error_t doca_buf_inventory_buf_dup(doca_buf_inventory* inventory, const doca_buf* src_buf, doca_buf** dst_buf) {
  return from(inventory, [&](BufferSource& source) -> doca_error_t {
    if (!find_buf(src_buf) || !dst_buf) return DOCA_ERROR_INVALID_VALUE;
    if (!source.started() || !src_buf->mmap->started()) return DOCA_ERROR_BAD_STATE;
    if (src_buf->first) return DOCA_ERROR_NOT_PERMITTED;
    doca_buf* taken = source.take(src_buf->mmap, src_buf->head, src_buf->length, src_buf->data, src_buf->data_length);
    if (!taken) return DOCA_ERROR_NO_MEMORY;
    *dst_buf = taken;
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_buf_inventory_set_user_data(doca_buf_inventory* inventory, doca_data user_data) {
  return set_source_data(inventory, user_data);
}
doca_error_t doca_buf_inventory_get_user_data(const doca_buf_inventory* inventory, doca_data* user_data) {
  return get_user_data(inventory, user_data);
}
doca_error_t doca_buf_inventory_get_num_elements(const doca_buf_inventory* inventory, std::uint32_t* num_of_elements) {
  return count(inventory, num_of_elements, &BufferSource::elements);
}
doca_error_t doca_buf_inventory_get_num_free_elements(const doca_buf_inventory* inventory,
                                                      std::uint32_t* num_of_free_elements) {
  return count(inventory, num_of_free_elements, &BufferSource::free_elements);
}

doca_error_t doca_buf_pool_create(std::size_t num_elements, std::size_t element_size, const doca_mmap* mmap,
                                  doca_buf_pool** buf_pool) {
  return with(mmap, [&](const Mmap& memory) -> doca_error_t {
    if (!buf_pool || element_size == 0 || !memory.has_range()) return DOCA_ERROR_INVALID_VALUE;
    if (const doca_error_t error = BufferSource::check(num_elements)) return error;
    auto source = std::make_shared<BufferSource>(num_elements);
    source->memory = mmap->object;
    source->element_size = element_size;
    *buf_pool = BufPoolPool::get().add(std::move(source));
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_buf_pool_destroy(doca_buf_pool* buf_pool) { return destroy<BufPoolPool>(buf_pool); }
// INVALID_VALUE if the elements are more than the memory.
doca_error_t doca_buf_pool_start(doca_buf_pool* buf_pool) {
  return from(buf_pool, [](BufferSource& source) -> doca_error_t {
    if (!source.memory->started()) return DOCA_ERROR_BAD_STATE;
    // The stride of a size that is near the end of all numbers begins at 0 again.
    const std::size_t most = source.memory->length() / source.elements();
    if (source.element_size > most || source.stride() > most) return DOCA_ERROR_INVALID_VALUE;
    source.set_started(true);
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_buf_pool_stop(doca_buf_pool* buf_pool) { return start(buf_pool, false); }
doca_error_t doca_buf_pool_buf_alloc(doca_buf_pool* buf_pool, doca_buf** buf) {
  return from(buf_pool, [&](BufferSource& source) -> doca_error_t {
    if (!buf) return DOCA_ERROR_INVALID_VALUE;
    if (!source.started() || !source.memory->started()) return DOCA_ERROR_BAD_STATE;
    doca_buf* taken = source.take_element();
    if (!taken) return DOCA_ERROR_NO_MEMORY;
    *buf = taken;
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_buf_pool_set_element_alignment(doca_buf_pool* buf_pool, std::size_t element_alignment) {
  return from(buf_pool, [&](BufferSource& source) -> doca_error_t {
    constexpr std::size_t kMost = std::size_t{1} << 30;
    const bool power = element_alignment != 0 && (element_alignment & (element_alignment - 1)) == 0;
    if (!power || element_alignment > kMost) return DOCA_ERROR_INVALID_VALUE;
    if (source.started()) return DOCA_ERROR_BAD_STATE;
    source.alignment = element_alignment;
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_buf_pool_get_element_alignment(const doca_buf_pool* buf_pool, std::size_t* element_alignment) {
  return from(buf_pool, [&](const BufferSource& source) {
    if (!element_alignment) return DOCA_ERROR_INVALID_VALUE;
    *element_alignment = source.alignment;
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_buf_pool_get_num_elements(const doca_buf_pool* buf_pool, std::uint32_t* num_elements) {
  return count(buf_pool, num_elements, &BufferSource::elements);
}
doca_error_t doca_buf_pool_get_num_free_elements(const doca_buf_pool* buf_pool, std::uint32_t* num_free_elements) {
  return count(buf_pool, num_free_elements, &BufferSource::free_elements);
}
doca_error_t doca_buf_pool_set_user_data(doca_buf_pool* buf_pool, doca_data user_data) {
  return set_source_data(buf_pool, user_data);
}
doca_error_t doca_buf_pool_get_user_data(const doca_buf_pool* buf_pool, doca_data* user_data) {
  return get_user_data(buf_pool, user_data);
}

}  // extern "C"
