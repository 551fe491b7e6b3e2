// Verilator's writer of VCD. What writes a signal that changed has another name here: what the generated code calls is in
// records.cpp, and comes here where text is wanted. A real number and an event, which no design to be synthesized has, are
// not recorded.
#define fullBit textBit
#define fullCData textCData
#define fullSData textSData
#define fullIData textIData
#define fullQData textQData
#define fullWData textWData
#include "verilated_vcd_c.cpp"

using AtomsBuffer = VerilatedTraceBuffer<VerilatedVcdBuffer>;

void atoms_text(AtomsBuffer& to, uint32_t* old, CData now) { to.textBit(old, now); }
void atoms_text(AtomsBuffer& to, uint32_t* old, CData now, int bits) { to.textCData(old, now, bits); }
void atoms_text(AtomsBuffer& to, uint32_t* old, SData now, int bits) { to.textSData(old, now, bits); }
void atoms_text(AtomsBuffer& to, uint32_t* old, IData now, int bits) { to.textIData(old, now, bits); }
void atoms_text(AtomsBuffer& to, uint32_t* old, QData now, int bits) { to.textQData(old, now, bits); }
void atoms_text(AtomsBuffer& to, uint32_t* old, const WData* now, int bits) { to.textWData(old, now, bits); }
