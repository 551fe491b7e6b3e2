/// Sum of two single-precision numbers, rounded to nearest even, subnormals kept, as IEEE 754 has it; a NaN is
/// 0x7fffffff. What a bank would need beside its ALU to add floats in place: docs/studies/float-adder.md.
module float_adder (
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic [31:0] sum_o
);
  typedef struct packed {
    logic        sign;
    logic [7:0]  exponent;
    logic [22:0] fraction;
  } float_t;

  /// Exponent of the last place: subnormal numbers have that of the smallest normal ones.
  function automatic logic [7:0] scale(float_t f);
    scale = (f.exponent == 8'd0) ? 8'd1 : f.exponent;
  endfunction

  function automatic logic [23:0] significand(float_t f);
    significand = {f.exponent != 8'd0, f.fraction};
  endfunction

  float_t      large, small;
  logic        differ;                  // signs
  logic [7:0]  distance, up;
  logic [26:0] aligned, lost;
  logic [27:0] added, moved;            // carry, 24 bits, and three below the last place
  logic [4:0]  zeros;
  logic [8:0]  exponent;
  logic        round_up;
  logic [24:0] rounded;
  logic        is_nan, is_infinite;

  always_comb begin
    {large, small} = (a_i[30:0] >= b_i[30:0]) ? {a_i, b_i} : {b_i, a_i};
    differ   = large.sign ^ small.sign;
    distance = scale(large) - scale(small);

    // The bits that are shifted out leave whether one of them was set.
    aligned    = {significand(small), 3'b0} >> distance;
    lost       = {significand(small), 3'b0} & ~(27'h7ff_ffff << distance);
    aligned[0] = aligned[0] | (lost != '0);
    added      = differ ? {1'b0, significand(large), 3'b0} - {1'b0, aligned}
                        : {1'b0, significand(large), 3'b0} + {1'b0, aligned};

    zeros = 5'd27;
    for (int unsigned i = 0; i < 27; i++) if (added[i]) zeros = 5'(26 - i);
    // Not below the exponent of subnormal numbers.
    up       = (8'(zeros) < scale(large)) ? 8'(zeros) : scale(large) - 8'd1;
    exponent = {1'b0, scale(large)} - {1'b0, up};
    moved    = added << up;
    if (added[27]) begin
      exponent = {1'b0, scale(large)} + 9'd1;
      moved    = {1'b0, added[27:2], added[1] | added[0]};
    end

    round_up = moved[2] && (moved[3] || (moved[1:0] != 2'b0));
    rounded  = {1'b0, moved[26:3]} + 25'(round_up);
    // A carry of rounding leaves zeros behind, and a subnormal sum that reaches the smallest normal number is that.
    if (rounded[24]) exponent = exponent + 9'd1;
    else if (!rounded[23]) exponent = 9'd0;

    is_nan      = ((large.exponent == 8'hff) && (large.fraction != '0))
               || ((small.exponent == 8'hff) && ((small.fraction != '0) || differ));
    is_infinite = (large.exponent == 8'hff) || (exponent >= 9'd255);

    sum_o = {large.sign, exponent[7:0], rounded[22:0]};
    // Numbers that cancel leave +0; -0 is the sum of two of it.
    if (rounded == '0)  sum_o = {large.sign && !differ, 31'b0};
    if (is_infinite)    sum_o = {large.sign, 8'hff, 23'b0};
    if (is_nan)         sum_o = 32'h7fff_ffff;
  end
endmodule : float_adder
