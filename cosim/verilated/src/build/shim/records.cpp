using AtomsBuffer = VerilatedTraceBuffer<VerilatedVcdBuffer>;

// Verilator's own functions, from text.cpp.
void atoms_text(AtomsBuffer&, uint32_t* old, CData now);
void atoms_text(AtomsBuffer&, uint32_t* old, CData now, int bits);
void atoms_text(AtomsBuffer&, uint32_t* old, SData now, int bits);
void atoms_text(AtomsBuffer&, uint32_t* old, IData now, int bits);
void atoms_text(AtomsBuffer&, uint32_t* old, QData now, int bits);
void atoms_text(AtomsBuffer&, uint32_t* old, const WData* now, int bits);

template <>
void AtomsBuffer::fullBit(uint32_t* old, CData now) {
    AtomsRecords* const records = AtomsWriter::records(m_owner);
    if (!records) return atoms_text(*this, old, now);
    *old = now;
    records->push(old - oldp(0), old, 1);
}

template <>
void AtomsBuffer::fullCData(uint32_t* old, CData now, int bits) {
    AtomsRecords* const records = AtomsWriter::records(m_owner);
    if (!records) return atoms_text(*this, old, now, bits);
    *old = now;
    records->push(old - oldp(0), old, 1);
}

template <>
void AtomsBuffer::fullSData(uint32_t* old, SData now, int bits) {
    AtomsRecords* const records = AtomsWriter::records(m_owner);
    if (!records) return atoms_text(*this, old, now, bits);
    *old = now;
    records->push(old - oldp(0), old, 1);
}

template <>
void AtomsBuffer::fullIData(uint32_t* old, IData now, int bits) {
    AtomsRecords* const records = AtomsWriter::records(m_owner);
    if (!records) return atoms_text(*this, old, now, bits);
    *old = now;
    records->push(old - oldp(0), old, 1);
}

template <>
void AtomsBuffer::fullQData(uint32_t* old, QData now, int bits) {
    AtomsRecords* const records = AtomsWriter::records(m_owner);
    if (!records) return atoms_text(*this, old, now, bits);
    old[0] = static_cast<uint32_t>(now);
    old[1] = static_cast<uint32_t>(now >> 32);
    records->push(old - oldp(0), old, 2);
}

// Signals of more than 128 bits are not recorded.
template <>
void AtomsBuffer::fullWData(uint32_t* old, const WData* now, int bits) {
    AtomsRecords* const records = AtomsWriter::records(m_owner);
    if (!records) return atoms_text(*this, old, now, bits);
    const int words = VL_WORDS_I(bits);
    for (int at = 0; at < words; ++at) old[at] = now[at];
    if (words <= 4) records->push(old - oldp(0), old, words);
}
