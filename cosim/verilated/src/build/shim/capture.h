// Included before everything else in every translation unit of a library.
//
// Verilator's runtime prints with VL_PRINTF, and ends the process in vl_stop and vl_fatal. A library in the
// process of another program must do neither. So shim.cpp keeps the printed text for the error report, and
// also replaces the VL_USER_* functions.
#pragma once
__attribute__((format(printf, 1, 2))) int atoms_printf(const char* format, ...);
#define VL_PRINTF atoms_printf
#define VL_USER_FINISH 1
#define VL_USER_STOP 1
#define VL_USER_FATAL 1
#define VL_USER_WARN 1

#if VM_COVERAGE
// Generated code registers every coverage point through VL_COVER_INSERT. Verilator's own registry writes
// counts only to a file, which takes a millisecond or more for each reading. Here the points go to the
// model's handle, with the address of each count.
#include "verilated_cov.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

// Replaces std::atomic<uint32_t> in generated code; see build/mod.rs.
struct AtomsCount {
    uint32_t count;
    template <class Order>
    void fetch_add(uint32_t more, Order) {
        count += more;
    }
    operator uint32_t() const { return count; }
};

struct AtomsPoint {
    uint32_t* count;
    std::string file, hierarchy, page, comment, lines;
    uint32_t line = 0, column = 0;
};

void atoms_add_point(AtomsPoint&& point);

inline std::string atoms_cover_text(const std::string& text) { return text; }
inline std::string atoms_cover_text(long number) { return std::to_string(number); }

// Unknown and empty keys are ignored: none of them is needed.
inline void atoms_cover_fields(AtomsPoint&) {}
template <class Value, class... Rest>
void atoms_cover_fields(AtomsPoint& point, const std::string& key, const Value& value, const Rest&... rest) {
    const std::string text = atoms_cover_text(value);
    if (key == "filename") point.file = text;
    if (key == "hier") point.hierarchy = text;
    if (key == "page") point.page = text;
    if (key == "comment") point.comment = text;
    if (key == "linescov") point.lines = text;
    if (key == "lineno") point.line = std::strtoul(text.c_str(), nullptr, 10);
    if (key == "column") point.column = std::strtoul(text.c_str(), nullptr, 10);
    atoms_cover_fields(point, rest...);
}

template <class... Fields>
void atoms_cover(uint32_t* count, const Fields&... fields) {
    AtomsPoint point{count};
    atoms_cover_fields(point, fields...);
    atoms_add_point(std::move(point));
}
// Later versions of the macro pass the name of the module before the count.
template <class... Fields>
void atoms_cover(const std::string&, uint32_t* count, const Fields&... fields) {
    atoms_cover(count, fields...);
}

#undef VL_COVER_INSERT
#define VL_COVER_INSERT(context, ...) atoms_cover(__VA_ARGS__)
#endif
