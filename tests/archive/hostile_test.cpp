#include <gmock/gmock.h>
#include <hdf5.h>

#include <functional>
#include "archive/hdf5.hpp"
#include "archive/proof_file.hpp"

#include "samples.hpp"
#include "../files/temporary_directory.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

/// A group as ours are.
hid_t add_group(hid_t parent, const std::string& name) {
  const hid_t creation = H5Pcreate(H5P_GROUP_CREATE);
  H5Pset_link_phase_change(creation, 0, 0);
  return H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, creation, H5P_DEFAULT);
}

/// A file like ours but for what `build` puts into it.
std::string error_of(const std::function<void(hid_t)>& build) {
  const TemporaryDirectory directory;
  const std::string path = directory / "h.h5";
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_link_phase_change(creation, 0, 0);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access);
  const auto attribute = [file](const char* name, hid_t type, hsize_t count, const void* data) {
    const hid_t space = count == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr);
    const hid_t id = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(id, type, data);
    H5Aclose(id);
  };
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, proof_format.size());
  H5Tset_strpad(text, H5T_STR_NULLPAD);
  H5Tset_cset(text, H5T_CSET_UTF8);
  attribute("format", text, 0, proof_format.data());
  attribute("format_version", H5T_STD_U32LE, 0, &format_version);
  attribute("digest", H5T_STD_U8LE, 32, Digest{}.data());
  build(file);
  H5Fclose(file);
  H5Pclose(access);
  try {
    const ReadFile read(path, proof_format);
    return "accepted";
  } catch (const InputError& error) {
    return error.what();
  }
}

struct DatasetOptions {
  hid_t type = H5T_STD_U8LE;
  std::vector<hsize_t> extents = {16};
  std::vector<hsize_t> limits = {};
  std::function<void(hid_t)> creation = [](hid_t) {};
};

void add_dataset(hid_t file, const DatasetOptions& options) {
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  options.creation(creation);
  const hid_t space = H5Screate_simple(static_cast<int>(options.extents.size()), options.extents.data(),
                                       options.limits.empty() ? nullptr : options.limits.data());
  const hid_t id = H5Dcreate2(file, "payload", options.type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  ASSERT_GE(id, 0);
  H5Dclose(id);
}

TEST(HostileFile, wrong_digest_is_refused) {
  EXPECT_THAT(error_of([](hid_t) {}), HasSubstr("digest: expected 0000"));
}

TEST(HostileFile, links_are_refused) {
  EXPECT_THAT(error_of([](hid_t file) { H5Lcreate_soft("/elsewhere", file, "payload", H5P_DEFAULT, H5P_DEFAULT); }),
              HasSubstr("payload: expected a hard link, found a soft link"));
  EXPECT_THAT(
      error_of([](hid_t file) { H5Lcreate_external("/etc/passwd", "/x", file, "payload", H5P_DEFAULT, H5P_DEFAULT); }),
      HasSubstr("payload: expected a hard link, found an external link"));
  EXPECT_THAT(error_of([](hid_t file) {
                const hid_t group = add_group(file, "a");
                H5Lcreate_hard(file, "/", group, "cycle", H5P_DEFAULT, H5P_DEFAULT);
                H5Gclose(group);
              }),
              HasSubstr("a/cycle: expected an object linked once"));
}

TEST(HostileFile, external_storage_is_refused) {
  const std::string error = error_of([](hid_t file) {
    add_dataset(file, {.creation = [](hid_t list) { H5Pset_external(list, "/etc/passwd", 0, 16); }});
  });
  EXPECT_THAT(error, HasSubstr("payload: expected data inside the file, found external storage"));
}

TEST(HostileFile, other_layouts_are_refused) {
  const auto chunked = [](hid_t list) {
    const hsize_t chunk = 4;
    H5Pset_chunk(list, 1, &chunk);
  };
  EXPECT_THAT(error_of([&](hid_t file) { add_dataset(file, {.creation = chunked}); }), HasSubstr("contiguous storage"));
  EXPECT_THAT(error_of([&](hid_t file) {
                add_dataset(file, {.creation = [&](hid_t list) {
                              chunked(list);
                              H5Pset_deflate(list, 9);
                            }});
              }),
              HasSubstr("contiguous storage"));
  EXPECT_THAT(error_of([](hid_t file) {
                add_dataset(file, {.creation = [](hid_t list) { H5Pset_layout(list, H5D_COMPACT); }});
              }),
              HasSubstr("contiguous storage"));
  EXPECT_THAT(error_of([](hid_t file) {
                add_dataset(file, {.creation = [](hid_t list) {
                              const hsize_t extent = 16;
                              const hid_t space = H5Screate_simple(1, &extent, nullptr);
                              H5Pset_virtual(list, space, "/etc/passwd", "x", space);
                            }});
              }),
              HasSubstr("contiguous storage"));
}

TEST(HostileFile, huge_and_unwritten_extents_are_refused) {
  EXPECT_THAT(error_of([](hid_t file) { add_dataset(file, {.extents = {hsize_t{1} << 40}}); }),
              HasSubstr("payload: expected data inside the file's"));
  EXPECT_THAT(error_of([](hid_t file) {
                add_dataset(file, {.extents = {hsize_t{1} << 30, hsize_t{1} << 20, hsize_t{1} << 10}});
              }),
              HasSubstr("payload: expected data inside the file's"));
  EXPECT_THAT(error_of([](hid_t file) { add_dataset(file, {}); }),
              HasSubstr("payload: expected data inside the file's"));
  EXPECT_THAT(error_of([](hid_t file) {
                add_dataset(file, {.extents = {1, 1, 1, 1, 1}});
              }),
              HasSubstr("payload: expected at most 4 dimensions"));
}

TEST(HostileFile, other_element_types_are_refused) {
  const auto written = [](hid_t type) {
    return error_of([type](hid_t file) {
      add_dataset(file, {.type = type, .creation = [](hid_t list) { H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY); }});
    });
  };
  EXPECT_THAT(written(H5T_STD_U8LE), HasSubstr("payload: expected an attribute digest"));
  EXPECT_THAT(written(H5T_STD_U32BE), HasSubstr("another element type"));
  EXPECT_THAT(written(H5T_STD_I8LE), HasSubstr("another element type"));
  const hid_t list = H5Tvlen_create(H5T_STD_U8LE);
  EXPECT_THAT(written(list), HasSubstr("another element type"));
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, H5T_VARIABLE);
  EXPECT_THAT(written(text), HasSubstr("another element type"));
  const hid_t compound = H5Tcreate(H5T_COMPOUND, 8);
  H5Tinsert(compound, "a", 0, H5T_STD_U8LE);
  EXPECT_THAT(written(compound), HasSubstr("another element type"));
}

TEST(HostileFile, other_group_storage_is_refused) {
  EXPECT_THAT(error_of([](hid_t file) {
                const hid_t group = H5Gcreate2(file, "a", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
                H5Gclose(H5Gcreate2(group, "b", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
                H5Gclose(group);
              }),
              HasSubstr("/a/: expected a group with dense link storage"));
}

TEST(HostileFile, many_objects_and_deep_groups_are_refused) {
  EXPECT_THAT(error_of([](hid_t file) {
                for (int i = 0; i < 5000; ++i) {
                  H5Gclose(H5Gcreate2(file, std::to_string(i).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
                }
              }),
              HasSubstr("at most 4096 objects"));
  EXPECT_THAT(error_of([](hid_t file) {
                std::string path;
                for (int i = 0; i < 20; ++i) {
                  H5Gclose(add_group(file, path += "/a"));
                }
              }),
              HasSubstr("nested groups"));
}

TEST(HostileFile, another_version_is_refused) {
  const TemporaryDirectory directory;
  const std::string path = directory / "p.h5";
  save_proof(path, small_proof());
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t attribute = H5Aopen(file, "format_version", H5P_DEFAULT);
  const std::uint32_t version = 77;
  H5Awrite(attribute, H5T_STD_U32LE, &version);
  H5Aclose(attribute);
  H5Fclose(file);
  try {
    (void)load_proof(path);
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("format_version: expected 19, found 77"));
  }
}

}  // namespace
}  // namespace tessera::test
