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
  function automatic logic [7:0] scale(logic [7:0] exponent);
    scale = (exponent == 8'd0) ? 8'd1 : exponent;
  endfunction

  float_t      big, little;
  logic        differ;                  // signs
  logic [7:0]  distance, up;            // that the smaller one moves down, and the sum up
  logic [26:0] aligned, lost;
  logic [23:0] big_significand, little_significand;
  logic [27:0] added;                   // carry, 24 bits, and three below the last place
  logic [26:0] moved;                   // to where its first bit is that of a significand
  logic [4:0]  zeros;
  logic [8:0]  exponent;
  logic        round_up;
  logic [24:0] rounded;
  logic        is_nan, is_infinite;

  always_comb begin
    {big, little} = (a_i[30:0] >= b_i[30:0]) ? {a_i, b_i} : {b_i, a_i};
    differ   = big.sign ^ little.sign;
    distance = scale(big.exponent) - scale(little.exponent);

    big_significand    = {big.exponent != 8'd0, big.fraction};
    little_significand = {little.exponent != 8'd0, little.fraction};

    // The bits that are shifted out leave whether one of them was set.
    aligned    = {little_significand, 3'b0} >> distance;
    lost       = {little_significand, 3'b0} & ~(27'h7ff_ffff << distance);
    aligned[0] = aligned[0] | (lost != '0);
    added      = differ ? {1'b0, big_significand, 3'b0} - {1'b0, aligned}
                        : {1'b0, big_significand, 3'b0} + {1'b0, aligned};

    zeros = 5'd27;
    for (int unsigned i = 0; i < 27; i++) if (added[i]) zeros = 5'(26 - i);
    // Not below the exponent of subnormal numbers.
    up       = (8'(zeros) < scale(big.exponent)) ? 8'(zeros) : scale(big.exponent) - 8'd1;
    exponent = {1'b0, scale(big.exponent)} - {1'b0, up};
    moved    = added[26:0] << up;
    if (added[27]) begin
      exponent = {1'b0, scale(big.exponent)} + 9'd1;
      moved    = {added[27:2], added[1] | added[0]};
    end

    round_up = moved[2] && (moved[3] || (moved[1:0] != 2'b0));
    rounded  = {1'b0, moved[26:3]} + 25'(round_up);
    // A carry of rounding leaves zeros behind, and a subnormal sum that reaches the smallest normal number is that.
    if (rounded[24]) exponent = exponent + 9'd1;
    else if (!rounded[23]) exponent = 9'd0;

    is_nan      = ((big.exponent == 8'hff) && (big.fraction != '0))
               || ((little.exponent == 8'hff) && ((little.fraction != '0) || differ));
    is_infinite = (big.exponent == 8'hff) || (exponent >= 9'd255);

    sum_o = {big.sign, exponent[7:0], rounded[22:0]};
    // Numbers that cancel leave +0; -0 is the sum of two of it.
    if (rounded == '0)  sum_o = {big.sign && !differ, 31'b0};
    if (is_infinite)    sum_o = {big.sign, 8'hff, 23'b0};
    if (is_nan)         sum_o = 32'h7fff_ffff;
  end
endmodule : float_adder
