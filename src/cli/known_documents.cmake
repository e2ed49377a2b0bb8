# Writes a source file that holds the documents of measurements that come with posenc:
#   cmake -DOUTPUT=FILE -DDOCUMENTS=FILES -P known_documents.cmake
# A literal has at most 60,000 bytes, because some compilers limit the length of literals.
set(text "#include \"cli/commands.h\"\n\n#include \"posenc/suite/document.h\"\n\n")
string(APPEND text "using namespace posenc;\n\n"
  "const std::vector<suite::Measurements>& cli::known_documents() {\n"
  "  static const auto& all = *new std::vector<suite::Measurements>{\n")
foreach(document IN LISTS DOCUMENTS)
  file(READ ${document} rest)
  get_filename_component(name ${document} NAME)
  string(APPEND text "    // ${name}\n    suite::parse_measurements(std::string()")
  string(LENGTH "${rest}" length)
  set(begin 0)
  while(begin LESS length)
    string(SUBSTRING "${rest}" ${begin} 60000 part)
    string(APPEND text "\n      .append(R\"posenc(${part})posenc\")")
    math(EXPR begin "${begin} + 60000")
  endwhile()
  string(APPEND text "),\n")
endforeach()
string(APPEND text "  };\n  return all;\n}\n")
file(WRITE ${OUTPUT} "${text}")
