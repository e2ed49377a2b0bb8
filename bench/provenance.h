// Where results come from: the machine and the build, in the header above the table and in the
// context of the JSON.
#pragma once

#include <string>
#include <string_view>

namespace posenc::bench {

/// Adds the machine and the build to the JSON's context, once a process.
void add_provenance();

/// Adds a line to the header, "peers   ...", and to the JSON's context. The first of a name counts.
void add_header_line(const std::string& name, const std::string& text);

/// The lines above the table. `notes` are whole lines: what the columns of this program mean.
std::string header(std::string_view notes);

}  // namespace posenc::bench
