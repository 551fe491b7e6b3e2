// What changed in a cycle, as numbers. Verilator's trace code calls `full*` of a buffer for each signal that changed:
// records.cpp has these. They record, or go on to Verilator's own ones (text.cpp), which write a line of VCD.

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
    // The code of a signal, times eight, and the number of words of its value, at most four; then these, the lowest
    // first.
    void push(uint32_t code, const uint32_t* value, uint32_t count) {
        if (m_end - m_at < 8) return grow(code, value, count);
        *m_at++ = code << 3 | count;
        for (uint32_t at = 0; at < count; ++at) *m_at++ = value[at];
    }

    void clear() { m_at = m_words.data(); }
    const uint32_t* data() const { return m_words.data(); }
    size_t bytes() const { return (m_at - m_words.data()) * sizeof(uint32_t); }
};

// Every writer of a library. A buffer knows the last member of VerilatedVcdC alone, behind which the pointer lies:
// thread-local storage takes a call for each change, or room that a loaded library may not have.
class AtomsWriter final : public VerilatedVcdC {
    // Where changes are recorded; null where text is written.
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
