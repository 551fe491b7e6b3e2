// Verilator's writer of VCD, with other names for the functions that write a changed signal. Generated code
// calls the functions of records.cpp, which call these functions if text is wanted. Real numbers and events
// are not recorded: no design for synthesis has them.
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
