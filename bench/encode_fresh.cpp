#include "encode_fresh.h"

#include "support.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace posenc::bench {
namespace {

/// Pages that no one has touched, none of them huge.
class Pages {
 public:
  explicit Pages(std::int64_t bytes)
      : bytes_(static_cast<std::size_t>(bytes)),
        pages_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (pages_ == MAP_FAILED) throw std::bad_alloc();
    madvise(pages_, bytes_, MADV_NOHUGEPAGE);
  }
  ~Pages() { munmap(pages_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  float* data() const { return static_cast<float*>(pages_); }

 private:
  std::size_t bytes_;
  void* pages_;
};

/// `get_memory` gives something that owns memory, or a view of it, with data().
template <class GetMemory>
void add_memory(const char* kind, const Backend& backend, const Shape& shape, StorePolicy stores,
                GetMemory get_memory) {
  const auto checked = std::make_shared<CheckedEncoder>(backend, shape.spec, shape.rows);
  const std::string name = fmt::format("encode_fresh/{}/memory:{}/{}{}", backend.full_name(), kind,
                                       to_string(shape), suffix_of(stores));
  add(name, [=](benchmark::State& state) {
    const Encoder* const encoder = checked->get(state);
    if (encoder == nullptr) return;
    for (auto _ : state) {
      auto&& memory = get_memory(shape);
      encoder->encode(shape.rows,
                      {memory.data(), shape.rows.count, shape.spec.d_model, shape.spec.d_model},
                      {1, stores});
      auto* data = memory.data();
      benchmark::DoNotOptimize(data);
      benchmark::ClobberMemory();
    }
    count(state, shape);
  });
}

}  // namespace

void add_encode_fresh(const std::vector<const Backend*>& backends, const Shape& shape,
                      StorePolicy stores) {
#ifdef M_MMAP_THRESHOLD
  // glibc keeps what is freed, the larger the more is freed, and hands it out again, warm: with a
  // threshold, it returns it.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
  begin_group();
  const auto kept = std::make_shared<Matrix>();  // by all backends
  for (const Backend* backend : backends) {
    const auto add_kind = [&](const char* kind, auto get_memory) {
      add_memory(kind, *backend, shape, stores, get_memory);
    };
    add_kind("vector", [](const Shape& of) {
      return std::vector<float>(static_cast<std::size_t>(of.elements()));
    });
    add_kind("pages", [](const Shape& of) { return Pages(of.bytes()); });
    add_kind("matrix", [](const Shape& of) { return Matrix(of.rows.count, of.spec.d_model); });
    add_kind("warm", [kept](const Shape& of) -> Matrix& {
      if (kept->rows() == 0) *kept = Matrix(of.rows.count, of.spec.d_model);
      return *kept;
    });
  }
}

}  // namespace posenc::bench
