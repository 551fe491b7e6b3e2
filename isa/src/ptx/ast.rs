//! What a PTX module says, with names resolved to indices. Text borrows from the file.

use crate::arch::Arch;
use crate::kernel::number::Type;
use crate::kernel::program::Directives;

/// A PTX file.
#[derive(Clone, Debug)]
pub struct Module<'t> {
    /// `.version`, major and minor.
    pub version: (u16, u16),
    /// `.target`, the architecture the text is for.
    pub target: Arch,
    /// `.address_size`, 32 or 64 bits.
    pub address_size: u8,
    /// Variables outside functions, in order.
    pub variables: Vec<Variable<'t>>,
    /// Functions with and without bodies, in order.
    pub functions: Vec<Function<'t>>,
}

impl<'t> Module<'t> {
    /// The kernel with this name.
    pub fn kernel(&self, name: &str) -> Option<&Function<'t>> {
        self.functions.iter().find(|f| f.entry && f.name == name)
    }
}

/// State space of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum StateSpace {
    Const,
    Global,
    /// Memory of one thread.
    Local,
    /// Parameters: of kernels, of functions, and those of a call being prepared.
    Param,
    /// Shared memory of a CTA.
    Shared,
}

/// A variable: of a module, of a function, or a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable<'t> {
    pub name: &'t str,
    pub space: StateSpace,
    /// Type of an element.
    pub ty: Type,
    /// Elements: 1 for a scalar, of all dimensions and of `.v2`, `.v4` together for an array; `None` for an
    /// array whose size the launch decides (`.extern .shared .b8 s[]`).
    pub count: Option<u64>,
    /// Alignment in bytes: as said, or that of an element.
    pub align: u32,
    /// Initial values from the first element on; what is not said is zero.
    pub initial: Vec<Initial<'t>>,
    /// Declared `.extern`: the definition is elsewhere.
    pub external: bool,
    /// Line of the declaration, from 1.
    pub line: u32,
}

impl Variable<'_> {
    /// Bytes; `None` where the launch decides.
    pub fn bytes(&self) -> Option<u64> {
        self.count.map(|n| n.saturating_mul(u64::from(self.ty.bits().div_ceil(8))))
    }
}

/// One initial value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Initial<'t> {
    /// Bits of an integer or a float, of the element's width.
    Bits(u64),
    /// The address of a variable or function, plus an offset; `generic()` of it if so said.
    Address {
        /// Name of the variable.
        symbol: &'t str,
        /// Bytes added.
        offset: i64,
        /// A generic address in place of one in the variable's space.
        generic: bool,
    },
}

/// A function: a kernel, or one that is called.
#[derive(Clone, Debug, Default)]
pub struct Function<'t> {
    pub name: &'t str,
    /// `.entry`: a kernel; else `.func`.
    pub entry: bool,
    /// What its header says about launches.
    pub directives: Directives,
    /// Registers, by [`RegId`]. Those of inner blocks are here too, each with a number of its own.
    pub registers: Vec<PtxRegister<'t>>,
    /// Variables, by the index in [`Symbol::Local`]: parameters, then results, then those declared inside.
    pub variables: Vec<Variable<'t>>,
    /// How many of `variables` are parameters.
    pub params: usize,
    /// How many of `variables`, after the parameters, are results.
    pub results: usize,
    /// Instructions; empty for a declaration.
    pub instructions: Vec<PtxInstruction<'t>>,
    /// Labels, by [`LabelId`].
    pub labels: Vec<Label<'t>>,
    /// Labels of each `.branchtargets`, by the index in [`Operand::Targets`].
    pub branch_targets: Vec<Vec<LabelId>>,
    /// True if there is a body.
    pub defined: bool,
    /// Line of the header, from 1.
    pub line: u32,
}

/// Number of a register in its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegId(pub u32);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PtxRegister<'t> {
    /// Name, with `%` where it has one: `%r7`, also of those declared together as `%r<31>`; `%v.x` of an element
    /// of a vector.
    pub name: std::borrow::Cow<'t, str>,
    /// Declared type; `None` in a snippet, which declares none.
    pub ty: Option<Type>,
}

/// Number of a label in its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LabelId(pub u32);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label<'t> {
    pub name: &'t str,
    /// Index of the instruction it stands before; their number if it stands at the end.
    pub at: u32,
}

/// Which lanes take part: those in which a predicate holds, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtxGuard {
    pub register: RegId,
    /// `@!`
    pub negate: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PtxInstruction<'t> {
    /// Which lanes take part; all of them where there is none.
    pub guard: Option<PtxGuard>,
    /// The part before the first dot.
    pub opcode: &'t str,
    /// What follows, without the dots: `shared::cta`, `add`, `u32`.
    pub modifiers: Vec<&'t str>,
    pub operands: Vec<Operand<'t>>,
    /// Guard to last operand, as written.
    pub text: &'t str,
    /// Line, from 1.
    pub line: u32,
}

/// What an operand of an address is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    Register(RegId),
    Symbol(Symbol),
    /// Nothing: the offset is the address.
    None,
}

/// A name of something with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// Index into [`Function::variables`].
    Local(u32),
    /// Index into [`Module::variables`].
    Module(u32),
    /// Index into [`Module::functions`].
    Function(u32),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Operand<'t> {
    Register(RegId),
    /// `!%p1`
    Not(RegId),
    /// A special register, without `%`: `tid.x`, `laneid`.
    Special(&'t str),
    /// An integer: two's complement of 64 bits.
    Integer(i64),
    /// Bits of a binary32, written `0f3F800000`.
    Single(u32),
    /// Bits of a binary64, written `0d3FF0000000000000` or in decimal digits.
    Double(u64),
    /// `{%r1, %r2}`
    Vector(Vec<Operand<'t>>),
    /// `%p1|%p2`
    Pair(Box<[Operand<'t>; 2]>),
    /// `[%r1+4]`
    Address {
        base: Base,
        /// Bytes added.
        offset: i64,
    },
    /// The address of a variable or function, perhaps with bytes added.
    Symbol {
        symbol: Symbol,
        /// Bytes added.
        offset: i64,
    },
    Label(LabelId),
    /// The name of a `.branchtargets`: index into [`Function::branch_targets`].
    Targets(u32),
    /// `_`
    Sink,
    /// `(a, b)`, of a call; also `[%r1, {%r2, %r3}]`, an address and coordinates.
    List(Vec<Operand<'t>>),
    /// A name that is none of these, such as a call's prototype.
    Name(&'t str),
}
