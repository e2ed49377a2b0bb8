// The readers of tables in files: types, byte orders and shapes that the command does not write.
#include "posenc/check/table_file.h"
#include "posenc/model/rotary_config.h"
#include "support.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <utility>

#ifdef __linux__
#include <pthread.h>
#endif

namespace posenc::test {

using namespace model;

using namespace check;
namespace {

TableInMemory read(const ScratchFolder& folder, const std::string& content) {
  const auto file = folder / "table.npy";
  write_file(file, content);
  return read_table(file, {});
}

StoredTable parsed(const std::string& npy, Holds holds = Holds::table) {
  return parse_npy(npy, std::ssize(npy), holds);
}

/// 1 and -2 in every type and byte order.
TEST(TableFile, ReadsEveryTypeInBothByteOrders) {
  const ScratchFolder folder;
  const std::pair<const char*, std::string> files[] = {
      {"<f4", {"\0\0\x80\x3f\0\0\0\xc0", 8}},
      {">f4", {"\x3f\x80\0\0\xc0\0\0\0", 8}},
      {"<f8", {"\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\xc0", 16}},
      {">f8", {"\x3f\xf0\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0", 16}},
      {"<f2", {"\0\x3c\0\xc0", 4}},
      {">f2", {"\x3c\0\xc0\0", 4}},
      {"|V2", {"\x80\x3f\0\xc0", 4}},
      {"<u2", {"\x80\x3f\0\xc0", 4}},
      {">u2", {"\x3f\x80\xc0\0", 4}}};
  for (const auto& [descr, elements] : files) {
    const TableInMemory table = read(folder, npy_file(descr, "(1, 2)", elements));
    EXPECT_EQ(table.view()(0, 0), 1) << descr;
    EXPECT_EQ(table.view()(0, 1), -2) << descr;
  }
}

/// By columns, if the header says so.
TEST(TableFile, ReadsColumnMajorOrder) {
  const ScratchFolder folder;
  std::string file = npy_file("<f2", "(2, 2)", {"\0\x3c\0\xc0\0\0\0\x40", 8});  // 1, -2, 0, 2
  for (const bool is_column_major : {false, true}) {
    const TableInMemory table = read(folder, file);
    EXPECT_EQ(table.view()(0, 1), is_column_major ? 0 : -2);
    EXPECT_EQ(table.view()(1, 0), is_column_major ? -2 : 0);
    EXPECT_EQ(table.view()(1, 1), 2);
    if (!is_column_major) file.replace(file.find("False"), 5, "True ");
  }
}

TEST(TableFile, LeavesOutDimensionsOfSize1) {
  using Sizes = std::array<std::int64_t, 3>;  // rows, heads and columns
  const auto sizes = [](const std::string& shape, Holds holds = Holds::table) {
    const StoredTable table = parsed(npy_file("<f4", shape, std::string(24, '\0')), holds);
    return Sizes{table.rows, table.heads, table.columns};
  };
  for (const char* const shape : {"(2, 3)", "(1, 2, 1, 3)", "(2L, 3L)"})
    EXPECT_EQ(sizes(shape), (Sizes{2, 1, 3})) << shape;
  EXPECT_EQ(sizes("(6, 1)"), (Sizes{6, 1, 1}));
  EXPECT_EQ(sizes("(1, 6)"), (Sizes{1, 1, 6}));
  EXPECT_EQ(sizes("(1, 2, 3)", Holds::heads), (Sizes{1, 2, 3}));
  EXPECT_EQ(sizes("(1, 2, 1, 3)", Holds::heads), (Sizes{2, 1, 3}));
  EXPECT_EQ(sizes("(2, 3)", Holds::heads), (Sizes{2, 1, 3}));
  expect_refused({
      {"shape is (6,); allowed: two dimensions", [&] { sizes("(6,)"); }},
      {"allowed: two dimensions", [&] { sizes("()"); }},
      {"allowed: two dimensions", [&] { sizes("(2, 1, 2, 3)"); }},
      {"at least one row and column", [&] { sizes("(0, 3)"); }},
      {"damaged", [&] { sizes("(-2, -3)"); }},
      {"more than 2^63", [&] { sizes("(9223372036854775807, 9)"); }},
  });
}

/// Cosine + i sine, or a last dimension of both; not by columns, where they are far apart.
TEST(TableFile, ReadsPairsSideBySide) {
  const std::pair<const char*, const char*> pairs[] = {
      {"<f4", "(2, 3, 2)"}, {"<c8", "(2, 3)"}, {"<c8", "(1, 2, 3)"}, {"<c16", "(2, 3)"}};
  for (const auto& [descr, shape] : pairs) {
    const bool is_float64 = std::string_view(descr) == "<c16";
    std::string file = npy_file(descr, shape, std::string(is_float64 ? 96 : 48, '\0'));
    const StoredTable table = parsed(file);
    EXPECT_EQ(std::pair(table.rows, table.columns), std::pair(std::int64_t{2}, std::int64_t{6}))
        << descr << shape;
    EXPECT_EQ(table.type, is_float64 ? DataType::float64 : DataType::float32);
    file.replace(file.find("False"), 5, "True ");
    EXPECT_THAT(refusal([&] { parsed(file); }), HasSubstr("allowed: two dimensions"));
  }
}

TEST(TableFile, RawElementsMayHaveOneColumn) {
  const ScratchFolder folder;
  write_file(folder / "raw", std::string("\0\0\x80\x3f\0\0\0\xc0", 8));
  const TableInMemory table = read_table(folder / "raw", {.columns = 1});
  EXPECT_EQ(table.view().rows, 2);
  EXPECT_EQ(table.view()(1, 0), -2);
}

TEST(TableFile, NpyIsWhatNumPyReads) {
  const auto refused = [](std::string fields, const std::string& version) {
    const auto length = static_cast<unsigned>(fields.size());
    const std::string file = "\x93NUMPY" + version + static_cast<char>(length & 0xff) +
                             static_cast<char>(length >> 8) + fields;
    return refusal([&] { parse_npy_header(file, std::ssize(file)); });
  };
  const std::string v1("\1\0", 2),
      good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}";
  EXPECT_EQ(refused(good, v1), nothing_thrown);
  EXPECT_EQ(refused(good + "   \n", v1), nothing_thrown);
  for (const std::string& each :
       {good + "x", good + good, good + std::string(1, '\0'), "(" + good + ")", "[" + good + "]",
        std::string("'descr' '<f4' 'fortran_order' False 'shape' (2, 3)"),
        good.substr(0, good.size() - 1) + ", 'shape': (2, 3)}"})
    EXPECT_THAT(refused(each, v1),
                AnyOf(HasSubstr("damaged"), HasSubstr("given twice"), HasSubstr("NUL byte")))
        << each;
  for (const std::string& version : {std::string("\x09\0", 2), std::string("\1\1", 2),
                                     std::string("\0\0", 2), std::string("\xff\0", 2)})
    EXPECT_THAT(refused(good, version), HasSubstr("the version of the .npy file is"));
  EXPECT_THAT(refused(good + std::string(10'000, ' '), v1), HasSubstr("allowed: at most 10000"));
}

/// The start of a .safetensors file, which says that its header has that length.
std::string safetensors(const std::string& header, std::uint64_t length) {
  std::string start;
  for (int i = 0; i < 8; ++i) start += static_cast<char>(length >> (8 * i) & 0xff);
  return start + header;
}
std::string refused_safetensors(const std::string& header, std::uint64_t length,
                                std::int64_t file_bytes) {
  return refusal([&] { parse_safetensors(safetensors(header, length), file_bytes, ""); });
}

TEST(TableFile, SafetensorsAreStrictJson) {
  const auto refused = [](const std::string& header) {
    return refused_safetensors(header, header.size(), 1000);
  };
  const std::string tensor = R"("t": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]})";
  EXPECT_EQ(refused("{" + tensor + "}"), nothing_thrown);
  EXPECT_THAT(refused("{" + tensor + "," + tensor + "}"), HasSubstr("t is given twice"));
  EXPECT_THAT(refused("{" + tensor + "}" + std::string("\0garbage", 8)), HasSubstr("NUL byte"));
  for (const char* const other : {"f4", "V2", "u2", ""}) {
    std::string text = "{" + tensor + "}";
    text.replace(text.find("F32"), 3, other);
    EXPECT_THAT(refused(text), HasSubstr("none of the 1 tensors is a table")) << other;
  }
  std::string many = "{" + tensor;
  for (char name = 'a'; name < 'm'; ++name)
    (many += ", " + tensor)[many.size() - tensor.size() + 1] = name;
  EXPECT_THAT(refused(many + "}"), HasSubstr("the file has 13 tensors"));
  EXPECT_THAT(refused(many + "}"), HasSubstr(" and 3 more"));
}

TEST(TableFile, NoLengthIsUsedBeforeItIsComparedWithTheFile) {
  const auto refused = [](std::uint64_t length, std::int64_t bytes) {
    return refused_safetensors(std::string(92, ' '), length, bytes);
  };
  EXPECT_THAT(refused(92, 100), HasSubstr("cannot be parsed"));
  EXPECT_THAT(refused(93, 100), HasSubstr("has 93 bytes"));
  EXPECT_THAT(refused(10'000'000, 1 << 30), HasSubstr("at most 4194304"));
  EXPECT_THAT(refused(~std::uint64_t{0}, 100), HasSubstr("has 18446744073709551615 bytes"));
  const std::string huge("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12);
  // Also not one that a file with holes has.
  for (const std::int64_t bytes : {std::int64_t{100}, std::int64_t{1} << 33}) {
    EXPECT_THAT(refusal([&] { parse_npy(huge, bytes); }),
                HasSubstr("4294967295 bytes; allowed: at most 10000"));
  }
}

#ifdef __linux__
TEST(TableFile, IsReadOnASmallStack) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr std::size_t stack_bytes = std::size_t{512} << 10;  // their frames are larger
#else
  constexpr std::size_t stack_bytes = std::size_t{64} << 10;
#endif
  struct Headers {
    std::string right = npy_file("<f4", "(2, " + std::string(900, ' ') + "4)", std::string(32, 0)),
                wrong = npy_file("<f4", std::string(900, '('), "");
    std::int64_t rows = 0;
    std::string refused;
  } headers;
  const auto read = [](void* of) -> void* {
    auto& each = *static_cast<Headers*>(of);
    each.rows = parsed(each.right).rows;
    each.refused = refusal([&] { parsed(each.wrong); });
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_t thread = {};
  ASSERT_EQ(pthread_create(&thread, &attributes, read, &headers), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(headers.rows, 2);
  EXPECT_THAT(headers.refused, HasSubstr("the header of the .npy file"));
}
#endif

/// A parser that looks at all elements again for each takes minutes for these.
TEST(TableFile, IsReadInTimeThatGrowsWithItsSize) {
  std::string header = "{", array = "[{}";
  for (int i = 0; i < 20000; ++i)
    header +=
        "\"t" + std::to_string(i) + "\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},";
  header += R"("table":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}})";
  for (int i = 0; i < 200000; ++i) array += ",{}";
  const auto seconds = [start = std::clock()] {
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  const std::string file = safetensors(header, header.size());
  EXPECT_EQ(parse_safetensors(file, std::ssize(file) + 4, "table").rows, 1);
  const std::string config = R"({"model_type": "llama", "head_dim": 64, "other": )" + array + "]}";
  EXPECT_NO_THROW(refusal([&] { read_rotary_config(config); }));
  EXPECT_LT(seconds(), 10);  // of the CPU, and less than one without a sanitizer
}

}  // namespace
}  // namespace posenc::test
