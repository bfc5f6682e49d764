//! The words that names in C avoid: keywords of C and C++, in which the programs may be compiled as well, their
//! alternative tokens, the macros of the headers that programs include or may be included with, and the functions
//! that the formulas call. A local name may hide any other function.

/// The words, with spaces between.
pub(super) const RESERVED: &str = "\
    alignas alignof asm auto bool break case catch char char8_t char16_t char32_t class co_await co_return co_yield \
    concept const const_cast consteval constexpr constinit continue decltype default delete do double dynamic_cast \
    else enum explicit export extern false final float for friend goto if import inline int long module mutable \
    namespace new noexcept nullptr operator override private protected public register reinterpret_cast requires \
    restrict return short signed sizeof static static_assert static_cast struct switch template this thread_local \
    throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile wchar_t \
    while fortran \
    and and_eq bitand bitor compl not not_eq or or_eq xor xor_eq \
    acos acosh asin asinh atan atan2 atanh cos cosh exp fabs fmax fmin log log10 pow sin sinh sqrt tan tanh sign \
    fpclassify isfinite isinf isnan isnormal signbit iscanonical issignaling issubnormal iszero iseqsig isgreater \
    isgreaterequal isless islessequal islessgreater isunordered \
    M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2 \
    M_El M_LOG2El M_LOG10El M_LN2l M_LN10l M_PIl M_PI_2l M_PI_4l M_1_PIl M_2_PIl M_2_SQRTPIl M_SQRT2l M_SQRT1_2l \
    HUGE HUGE_VAL HUGE_VALF HUGE_VALL INFINITY NAN SNAN SNANF SNANL MAXFLOAT \
    FP_INFINITE FP_NAN FP_NORMAL FP_SUBNORMAL FP_ZERO FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMAL FP_ILOGB0 FP_ILOGBNAN \
    FP_LLOGB0 FP_LLOGBNAN FP_INT_UPWARD FP_INT_DOWNWARD FP_INT_TOWARDZERO FP_INT_TONEARESTFROMZERO \
    FP_INT_TONEAREST MATH_ERRNO MATH_ERREXCEPT math_errhandling DOMAIN SING OVERFLOW UNDERFLOW PLOSS TLOSS X_TLOSS \
    complex imaginary I CMPLX CMPLXF CMPLXL \
    NULL EOF offsetof BUFSIZ FILENAME_MAX FOPEN_MAX L_tmpnam L_ctermid P_tmpdir SEEK_CUR SEEK_DATA SEEK_END \
    SEEK_HOLE SEEK_SET TMP_MAX RENAME_EXCHANGE RENAME_NOREPLACE RENAME_WHITEOUT stdin stdout stderr \
    EXIT_FAILURE EXIT_SUCCESS MB_CUR_MAX RAND_MAX WCONTINUED WEXITED WEXITSTATUS WNOHANG WNOWAIT WSTOPPED WSTOPSIG \
    WTERMSIG WUNTRACED WIFEXITED WIFSIGNALED WIFSTOPPED WIFCONTINUED FD_SETSIZE NFDBITS \
    LITTLE_ENDIAN BIG_ENDIAN PDP_ENDIAN BYTE_ORDER alloca assert errno main printf \
    linux unix i386 sun mips vax hpux";
