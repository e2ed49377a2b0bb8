#include "fresh_memory.h"

#include "checked_encoder.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace posenc::bench {
namespace {

/// Pages that nobody has touched, none of them huge.
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
  void* data() const { return pages_; }

 private:
  std::size_t bytes_;
  void* pages_;
};

/// `get_memory` gives something that owns memory, or a reference to it, with data().
template <class GetMemory>
void add_kind(const char* kind, const Backend& backend, const TableShape& shape, StorePolicy stores,
              GetMemory get_memory) {
  if (!backend.plan({.d_model = 2})->supports(shape.type)) return;
  const auto body = [=](benchmark::State& state, const Encoder& encoder) {
    for (auto _ : state) {
      auto&& memory = get_memory();
      encoder.encode(shape.rows, view_of(shape, memory.data()), {1, stores});
      auto* data = memory.data();
      benchmark::DoNotOptimize(data);
      benchmark::ClobberMemory();
    }
    count_elements_and_bytes(state, shape);
  };
  add_checked(fmt::format("encode_fresh/{}/memory:{}/{}{}", backend.full_name(), kind,
                          to_string(shape), suffix_of(stores)),
              backend, shape, body);
}

/// glibc keeps what is freed, the larger the more is freed, and hands it out again, warm. With a
/// fixed threshold, it returns it to the system.
void return_freed_memory() {
#ifdef M_MMAP_THRESHOLD
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
}

}  // namespace

void add_fresh_memory(const std::vector<const Backend*>& backends, const TableShape& shape,
                      StorePolicy stores) {
  return_freed_memory();
  begin_group();
  const std::int64_t rows = shape.rows.count, d_model = shape.spec.d_model;
  with_type(shape.type, [&]<class T>(T) {
    const auto kept = std::make_shared<BasicMatrix<T>>();  // by all backends
    for (const Backend* backend : backends) {
      add_kind("vector", *backend, shape, stores,
               [=] { return std::vector<T>(static_cast<std::size_t>(rows * d_model)); });
      add_kind("pages", *backend, shape, stores, [=] { return Pages(shape.bytes()); });
      add_kind("matrix", *backend, shape, stores, [=] { return BasicMatrix<T>(rows, d_model); });
      add_kind("warm", *backend, shape, stores, [=]() -> BasicMatrix<T>& {
        if (kept->rows() == 0) *kept = BasicMatrix<T>(rows, d_model);
        return *kept;
      });
    }
  });
}

}  // namespace posenc::bench
