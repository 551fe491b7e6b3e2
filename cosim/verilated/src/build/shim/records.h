// Records the changes of a cycle as numbers. For each signal that changed, Verilator's trace code calls a
// function `full*` of a buffer. records.cpp defines these functions. They record the change, or call
// Verilator's own function (text.cpp), which writes a line of VCD.

#include "verilated_vcd_c.h"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

class AtomsRecords final {
    std::vector<uint32_t> m_words;
    uint32_t* m_at = nullptr;
    uint32_t* m_end = nullptr;

    __attribute__((noinline, cold)) void grow(uint32_t code, const uint32_t* value, uint32_t count) {
        const size_t length = m_at - m_words.data();
        m_words.resize(2 * m_words.size() + 1024);
        m_at = m_words.data() + length;
        m_end = m_words.data() + m_words.size();
        push(code, value, count);
    }

public:
    // Appends a record. The first word has the signal's code, times eight, plus the number of value words, at
    // most four. The value words follow, the lowest first.
    void push(uint32_t code, const uint32_t* value, uint32_t count) {
        if (m_end - m_at < 8) return grow(code, value, count);
        *m_at++ = code << 3 | count;
        for (uint32_t at = 0; at < count; ++at) *m_at++ = value[at];
    }

    void clear() { m_at = m_words.data(); }
    const uint32_t* data() const { return m_words.data(); }
    size_t bytes() const { return (m_at - m_words.data()) * sizeof(uint32_t); }
};

// Every writer of a library is an AtomsWriter. A buffer knows only the last member of VerilatedVcdC, and the
// pointer directly follows that member. Thread-local storage would take a call for each change, or room that
// a loaded library may not have.
class AtomsWriter final : public VerilatedVcdC {
    // Records for the changes; null if the writer writes text.
    AtomsRecords* const m_records;

public:
    explicit AtomsWriter(VerilatedVcdFile* file = nullptr, AtomsRecords* records = nullptr)
        : VerilatedVcdC{file}, m_records{records} {
        if (static_cast<const void*>(&m_records) != spTrace() + 1) throw std::logic_error{"layout of VerilatedVcdC"};
    }

    static AtomsRecords* records(const VerilatedVcd& owner) {
        return *reinterpret_cast<AtomsRecords* const*>(&owner + 1);
    }
};
