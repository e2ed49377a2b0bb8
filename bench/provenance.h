// Where results come from.
#pragma once

namespace posenc::bench {

/// Adds the machine and the build to the context of Google Benchmark's output.
void add_provenance();

}  // namespace posenc::bench
