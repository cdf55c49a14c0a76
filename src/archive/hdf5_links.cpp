#include "archive/hdf5_handle.hpp"

namespace tessera::hdf5 {
namespace {

struct Collector {
  std::vector<Link> links;
  std::size_t max_count = 0;
};

/// Called by the library: no exception may pass. 1 stops the iteration.
herr_t collect_link(hid_t /*group*/, const char* name, const H5L_info_t* info, void* data) noexcept {
  auto& collector = *static_cast<Collector*>(data);
  if (collector.links.size() >= collector.max_count) {
    return 1;
  }
  try {
    collector.links.push_back({name, info->type});
  } catch (const std::bad_alloc&) {
    return -1;
  }
  return 0;
}

}  // namespace

LinkList list_links(hid_t group, std::size_t max_count) {
  // Only links in dense storage, and only in their stored order: for anything else the library collects the links in a
  // table first, and if one of them is damaged it frees entries of the table that it has not filled (HDF5 1.10.8).
  H5G_info_t storage{};
  if (H5Gget_info(group, &storage) < 0) {
    return {{}, "a readable group", "damaged bytes"};
  }
  if (storage.nlinks == 0) {
    return {};
  }
  if (storage.storage_type != H5G_STORAGE_TYPE_DENSE) {
    return {{}, "a group with dense link storage", "another storage"};
  }
  Collector collector{{}, max_count};
  const herr_t status = H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, collect_link, &collector);
  if (status != 0) {
    return {{},
            "a readable group of at most " + std::to_string(max_count) + " objects",
            status > 0 ? "more" : "damaged bytes"};
  }
  return {std::move(collector.links), {}, {}};
}

}  // namespace tessera::hdf5
