// The function of the C interface that measures accuracy.
#include "c/call.h"
#include "posenc/suite/accuracy_report.h"

using namespace posenc;
using namespace posenc::suite;
using namespace posenc::detail;

extern "C" posenc_status posenc_measure_accuracy(const posenc_encoder* encoder, int64_t first,
                                                 int64_t rows, int32_t type, int32_t threads,
                                                 posenc_error_report* report) {
  return status_of([&] {
    posenc_error_report& result = checked(report, "report");
    const Encoder* const one[] = {checked(encoder, "encoder").encoder.get()};
    AccuracyOptions options;
    options.threads = threads;
    options.type = data_type(type);
    const AccuracyReport measured = measure_accuracy(one, {first, rows}, options).front();
    result = {measured.error.max_abs,     measured.error.max_ulp,   measured.error.rms,
              measured.correctly_rounded, measured.promise.max_abs, measured.entries,
              measured.wrongly_rounded,   measured.worst.position,  measured.worst.channel};
  });
}
