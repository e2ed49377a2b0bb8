// Aligned moves to and from the stack. tests/aligned_moves.py must find them, unless the options of
// posenc's targets make unaligned moves of them.
asm("vmovaps %ymm0, 32(%rsp)\n"
    "vmovdqa64 64(%rbp), %zmm1");
