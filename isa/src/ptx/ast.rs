//! Parsed form of a PTX module. Names of registers, variables and labels are replaced by indices. The strings
//! are slices of the parsed text.

use crate::arch::Arch;
use crate::kernel::number::Type;
use crate::kernel::program::Directives;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Module<'t> {
    pub version: (u16, u16),
    pub target: Arch,
    /// Width of addresses in bits (`.address_size`), 32 or 64.
    pub address_size: u8,
    pub variables: Vec<Variable<'t>>,
    pub functions: Vec<Function<'t>>,
    /// Names of the `.file` directives, by number.
    pub files: BTreeMap<u32, Arc<str>>,
}

impl<'t> Module<'t> {
    pub fn new(version: (u16, u16), target: Arch, functions: Vec<Function<'t>>) -> Self {
        Module { version, target, address_size: 64, variables: Vec::new(), functions, files: BTreeMap::new() }
    }

    pub fn kernel(&self, name: &str) -> Option<&Function<'t>> {
        self.functions.iter().find(|f| f.entry && f.name == name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum StateSpace {
    Const,
    Global,
    Local,
    /// Parameters of kernels and of functions, and the variables in which a caller passes arguments.
    Param,
    Shared,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Variable<'t> {
    pub name: &'t str,
    pub space: StateSpace,
    pub ty: Type,
    /// Number of elements: of all dimensions of an array together, times the lanes of `.v2` or `.v4`. `None`
    /// for an array whose size is set at launch (`.extern .shared .b8 s[]`).
    pub count: Option<u64>,
    /// Alignment in bytes: the declared one, or else that of one element.
    pub align: u32,
    /// Initial values of the first elements. All further elements are zero.
    pub initial: Vec<Initial<'t>>,
    /// True if the variable is declared `.extern`, so its definition is in another module.
    pub external: bool,
    pub line: u32,
}

impl Variable<'_> {
    /// Size in bytes; `None` if the size is set at launch.
    pub fn bytes(&self) -> Option<u64> {
        self.count.map(|n| n.saturating_mul(u64::from(self.ty.bits().div_ceil(8))))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Initial<'t> {
    Bits(u64),
    Address {
        symbol: &'t str,
        offset: i64,
        /// True for `generic(symbol)`, the generic address of the symbol. False for its address in its own
        /// state space.
        generic: bool,
    },
}

#[derive(Clone, Debug, Default)]
pub struct Function<'t> {
    pub name: &'t str,
    /// True for `.entry`, which is a kernel. False for `.func`.
    pub entry: bool,
    pub directives: Directives,
    /// Registers, indexed by [`RegId`]. Registers that are declared in inner blocks are included.
    pub registers: Vec<PtxRegister<'t>>,
    /// Variables, indexed by [`Symbol::Local`]: first the parameters, then the results, then the variables of
    /// the body.
    pub variables: Vec<Variable<'t>>,
    pub params: usize,
    pub results: usize,
    pub instructions: Vec<PtxInstruction<'t>>,
    pub labels: Vec<Label<'t>>,
    /// Labels of each `.branchtargets` directive. [`Operand::Targets`] is an index into this vector.
    pub branch_targets: Vec<Vec<LabelId>>,
    pub defined: bool,
    pub line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegId(pub u32);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PtxRegister<'t> {
    /// Name as in the text, with `%` if it has one. A register declared by `%r<31>` has its own name, such as
    /// `%r7`. An element of a vector has a name such as `%v.x`.
    pub name: std::borrow::Cow<'t, str>,
    pub ty: Option<Type>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LabelId(pub u32);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label<'t> {
    pub name: &'t str,
    /// Index of the first instruction after the label. The number of instructions if the label is at the end.
    pub at: u32,
}

/// Predicate that enables or disables an instruction in each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtxGuard {
    pub register: RegId,
    /// True for `@!`: the instruction executes in lanes where the predicate is false.
    pub negate: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PtxInstruction<'t> {
    pub guard: Option<PtxGuard>,
    pub opcode: &'t str,
    pub modifiers: Vec<&'t str>,
    pub operands: Vec<Operand<'t>>,
    /// Text of the instruction as written, from the guard to the last operand.
    pub text: &'t str,
    pub line: u32,
    /// File number and line of the last `.loc` directive before the instruction.
    pub position: Option<(u32, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    Register(RegId),
    Symbol(Symbol),
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    Local(u32),
    Module(u32),
    Function(u32),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Operand<'t> {
    Register(RegId),
    /// The complement of a predicate: `!%p1`.
    Not(RegId),
    /// A special register, named without `%`, such as `tid.x` or `laneid`.
    Special(&'t str),
    Integer(i64),
    /// A binary32 number, as its bits: `0f3F800000`.
    Single(u32),
    /// A binary64 number, as its bits: `0d3FF0000000000000`, or decimal digits such as `1.5`.
    Double(u64),
    Vector(Vec<Operand<'t>>),
    /// Two operands joined by a bar: `%p1|%p2`.
    Pair(Box<[Operand<'t>; 2]>),
    /// An address in brackets such as `[%r1+4]`.
    Address {
        base: Base,
        offset: i64,
    },
    Symbol {
        symbol: Symbol,
        offset: i64,
    },
    Label(LabelId),
    /// Name of a `.branchtargets` directive, as its index into [`Function::branch_targets`].
    Targets(u32),
    Sink,
    /// Several operands in brackets: `(a, b)` of a call, or `[%r1, {%r2, %r3}]`, an address and coordinates.
    List(Vec<Operand<'t>>),
    /// Any other name, such as that of the prototype of a call.
    Name(&'t str),
}
