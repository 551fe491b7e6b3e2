// Included before everything else in every translation unit of a library.
//
// Verilator's runtime prints with VL_PRINTF and ends the process in vl_stop and vl_fatal. A library
// that is loaded into someone else's process may do neither: what is printed is kept for the error
// report (shim.cpp), and the VL_USER_* functions are replaced there too.
#pragma once
__attribute__((format(printf, 1, 2))) int atoms_printf(const char* format, ...);
#define VL_PRINTF atoms_printf
#define VL_USER_FINISH 1
#define VL_USER_STOP 1
#define VL_USER_FATAL 1
#define VL_USER_WARN 1
