/* SPDX-License-Identifier: MIT */
/* Written by mixes.py: the types that llama-quantize gives the tensors of the shapes in test_quantize.c, in the
 * order of the file. "Q6_K*3 " means three of Q6_K. */
enum { N_GOLDEN_SHAPES = 6 };

static const struct {
    int shape;
    const char *mix;
    int pure;
    const char *types;
} golden_mixes[] = {
    {0, "F16", 0,
     "F16*225 F32 F16 "},
    {0, "BF16", 0,
     "BF16*225 F32 BF16 "},
    {0, "Q8_0", 0,
     "Q8_0*225 F32 Q8_0 "},
    {0, "Q4_0", 0,
     "Q4_0*225 F32 Q6_K "},
    {0, "Q4_1", 0,
     "Q4_1*225 F32 Q6_K "},
    {0, "Q5_0", 0,
     "Q5_0*225 F32 Q6_K "},
    {0, "Q5_1", 0,
     "Q5_1*225 F32 Q6_K "},
    {0, "Q2_K", 0,
     "Q2_K*3 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K "
     "Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 "
     "Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 "
     "Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K "
     "Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K "
     "Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K "
     "Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 "
     "Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 "
     "Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K "
     "Q2_K*2 Q3_K Q2_K*2 Q4_K Q3_K Q2_K*2 Q3_K F32 Q6_K "},
    {0, "Q3_K_S", 0,
     "Q3_K*225 F32 Q6_K "},
    {0, "Q3_K_M", 0,
     "Q3_K*3 Q5_K Q4_K Q3_K*2 Q5_K Q3_K*2 Q5_K Q4_K Q3_K*2 Q5_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 "
     "Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 "
     "Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K "
     "Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 "
     "Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 "
     "Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 "
     "Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K "
     "Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 "
     "Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K F32 Q6_K "},
    {0, "Q3_K_L", 0,
     "Q3_K*3 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 "
     "Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 "
     "Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 "
     "Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K "
     "Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 "
     "Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 "
     "Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 "
     "Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K "
     "Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K F32 Q6_K "},
    {0, "Q4_K_S", 0,
     "Q4_K*3 Q5_K Q4_K*3 Q5_K Q4_K*2 Q5_K Q4_K*3 Q5_K Q4_K*2 Q5_K Q4_K*3 Q5_K Q4_K*2 Q5_K Q4_K*3 Q5_K "
     "Q4_K*196 F32 Q6_K "},
    {0, "Q4_K_M", 0,
     "Q4_K*3 Q6_K Q4_K*3 Q6_K Q4_K*2 Q6_K Q4_K*3 Q6_K Q4_K*2 Q6_K Q4_K*3 Q6_K Q4_K*2 Q6_K Q4_K*3 Q6_K "
     "Q4_K*16 Q6_K Q4_K*3 Q6_K Q4_K*16 Q6_K Q4_K*3 Q6_K Q4_K*16 Q6_K Q4_K*3 Q6_K Q4_K*16 Q6_K Q4_K*3 Q6_K "
     "Q4_K*16 Q6_K Q4_K*3 Q6_K Q4_K*16 Q6_K Q4_K*3 Q6_K Q4_K*16 Q6_K Q4_K*3 Q6_K Q4_K*16 Q6_K Q4_K*3 Q6_K "
     "Q4_K*2 Q6_K Q4_K*3 Q6_K Q4_K*2 Q6_K Q4_K*3 Q6_K Q4_K*2 Q6_K Q4_K*3 Q6_K Q4_K*2 Q6_K Q4_K*3 Q6_K F32 "
     "Q6_K "},
    {0, "Q5_K_S", 0,
     "Q5_K*225 F32 Q6_K "},
    {0, "Q5_K_M", 0,
     "Q5_K*3 Q6_K Q5_K*3 Q6_K Q5_K*2 Q6_K Q5_K*3 Q6_K Q5_K*2 Q6_K Q5_K*3 Q6_K Q5_K*2 Q6_K Q5_K*3 Q6_K "
     "Q5_K*16 Q6_K Q5_K*3 Q6_K Q5_K*16 Q6_K Q5_K*3 Q6_K Q5_K*16 Q6_K Q5_K*3 Q6_K Q5_K*16 Q6_K Q5_K*3 Q6_K "
     "Q5_K*16 Q6_K Q5_K*3 Q6_K Q5_K*16 Q6_K Q5_K*3 Q6_K Q5_K*16 Q6_K Q5_K*3 Q6_K Q5_K*16 Q6_K Q5_K*3 Q6_K "
     "Q5_K*2 Q6_K Q5_K*3 Q6_K Q5_K*2 Q6_K Q5_K*3 Q6_K Q5_K*2 Q6_K Q5_K*3 Q6_K Q5_K*2 Q6_K Q5_K*3 Q6_K F32 "
     "Q6_K "},
    {0, "Q6_K", 0,
     "Q6_K*225 F32 Q6_K "},
    {0, "IQ4_NL", 0,
     "IQ4_NL*3 Q5_K IQ4_NL*3 Q5_K IQ4_NL*2 Q5_K IQ4_NL*3 Q5_K IQ4_NL*2 Q5_K IQ4_NL*3 Q5_K IQ4_NL*2 Q5_K "
     "IQ4_NL*3 Q5_K IQ4_NL*2 Q5_K IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K "
     "IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K "
     "IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K "
     "IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K IQ4_NL*6 Q5_K "
     "IQ4_NL*6 Q5_K IQ4_NL*4 F32 Q6_K "},
    {0, "IQ4_XS", 0,
     "IQ4_XS*3 Q5_K IQ4_XS*3 Q5_K IQ4_XS*2 Q5_K IQ4_XS*3 Q5_K IQ4_XS*2 Q5_K IQ4_XS*3 Q5_K IQ4_XS*2 Q5_K "
     "IQ4_XS*3 Q5_K IQ4_XS*2 Q5_K IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K "
     "IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K "
     "IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K "
     "IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K IQ4_XS*6 Q5_K "
     "IQ4_XS*6 Q5_K IQ4_XS*4 F32 Q6_K "},
    {0, "TQ1_0", 0,
     "Q4_K TQ1_0*224 F32 Q6_K "},
    {0, "TQ2_0", 0,
     "Q4_K TQ2_0*224 F32 Q6_K "},
    {0, "MXFP4_MOE", 0,
     "Q8_0*225 F32 Q8_0 "},
    {0, "Q4_K_M", 1,
     "Q4_K*225 F32 Q4_K "},
    {0, "Q2_K", 1,
     "Q2_K*225 F32 Q2_K "},
    {0, "IQ4_XS", 1,
     "IQ4_XS*225 F32 IQ4_XS "},
    {0, "MXFP4_MOE", 1,
     "MXFP4*225 F32 MXFP4 "},
    {1, "F16", 0,
     "F16*64 F32 "},
    {1, "BF16", 0,
     "BF16*64 F32 "},
    {1, "Q8_0", 0,
     "Q8_0*64 F32 "},
    {1, "Q4_0", 0,
     "Q8_0 Q4_0*63 F32 "},
    {1, "Q4_1", 0,
     "Q8_0 Q4_1*63 F32 "},
    {1, "Q5_0", 0,
     "Q8_0 Q5_0*63 F32 "},
    {1, "Q5_1", 0,
     "Q8_0 Q5_1*63 F32 "},
    {1, "Q2_K", 0,
     "Q8_0 Q4_0*63 F32 "},
    {1, "Q3_K_S", 0,
     "Q8_0 Q4_0*63 F32 "},
    {1, "Q3_K_M", 0,
     "Q8_0 Q4_0*2 Q5_1 Q5_0 Q4_0*2 Q5_0 Q4_0*2 Q5_1 Q5_0 Q4_0*2 Q5_0 Q4_0*2 Q5_0*2 Q4_0*2 Q5_0 Q4_0*2 "
     "Q5_0*2 Q4_0*2 Q5_0 Q4_0*2 Q5_0*2 Q4_0*2 Q5_0 Q4_0*2 Q5_0*2 Q4_0*2 Q5_0 Q4_0*2 Q5_0*2 Q4_0*2 Q5_0 "
     "Q4_0*2 Q5_0*2 Q4_0*2 Q5_0 Q4_0*2 Q5_0*2 Q4_0*2 Q5_0 F32 "},
    {1, "Q3_K_L", 0,
     "Q8_0 Q4_0*2 Q5_1*2 Q4_0*2 Q5_1 Q4_0*2 Q5_1*2 Q4_0*2 Q5_1 Q4_0*2 Q5_1*2 Q4_0*2 Q5_1 Q4_0*2 Q5_1*2 "
     "Q4_0*2 Q5_1 Q4_0*2 Q5_1*2 Q4_0*2 Q5_1 Q4_0*2 Q5_1*2 Q4_0*2 Q5_1 Q4_0*2 Q5_1*2 Q4_0*2 Q5_1 Q4_0*2 "
     "Q5_1*2 Q4_0*2 Q5_1 Q4_0*2 Q5_1*2 Q4_0*2 Q5_1 F32 "},
    {1, "Q4_K_S", 0,
     "Q8_0 Q5_0*2 Q5_1 Q5_0*3 Q5_1 Q5_0*2 Q5_1 Q5_0*6 Q5_1 Q5_0*6 Q5_1 Q5_0*39 F32 "},
    {1, "Q4_K_M", 0,
     "Q8_0 Q5_0*2 Q8_0 Q5_0*3 Q8_0 Q5_0*16 Q8_0 Q5_0*3 Q8_0 Q5_0*16 Q8_0 Q5_0*3 Q8_0 Q5_0*2 Q8_0 Q5_0*3 "
     "Q8_0 Q5_0*2 Q8_0 Q5_0*3 Q8_0 F32 "},
    {1, "Q5_K_S", 0,
     "Q8_0 Q5_1*63 F32 "},
    {1, "Q5_K_M", 0,
     "Q8_0 Q5_1*2 Q8_0 Q5_1*3 Q8_0 Q5_1*16 Q8_0 Q5_1*3 Q8_0 Q5_1*16 Q8_0 Q5_1*3 Q8_0 Q5_1*2 Q8_0 Q5_1*3 "
     "Q8_0 Q5_1*2 Q8_0 Q5_1*3 Q8_0 F32 "},
    {1, "Q6_K", 0,
     "Q8_0*64 F32 "},
    {1, "IQ4_NL", 0,
     "Q8_0 IQ4_NL*6 Q5_1 IQ4_NL*56 F32 "},
    {1, "IQ4_XS", 0,
     "Q8_0 IQ4_NL*6 Q5_1 IQ4_NL*56 F32 "},
    {1, "TQ1_0", 0,
     "Q8_0 Q4_0*63 F32 "},
    {1, "TQ2_0", 0,
     "Q8_0 Q4_0*63 F32 "},
    {1, "MXFP4_MOE", 0,
     "Q8_0*64 F32 "},
    {1, "Q4_K_M", 1,
     "Q5_0*64 F32 "},
    {1, "Q2_K", 1,
     "Q4_0*64 F32 "},
    {1, "IQ4_XS", 1,
     "IQ4_NL*64 F32 "},
    {1, "MXFP4_MOE", 1,
     "MXFP4*64 F32 "},
    {2, "F16", 0,
     "F16*5 F32 F16*7 F32 F16*7 F32 F16*7 F32 F16*7 F32 F16*7 F32 F16*7 F32 F16*7 F32 F16*7 F32 F16*7 F32 "
     "F16*3 F32 F16 "},
    {2, "BF16", 0,
     "BF16*5 F32 BF16*7 F32 BF16*7 F32 BF16*7 F32 BF16*7 F32 BF16*7 F32 BF16*7 F32 BF16*7 F32 BF16*7 F32 "
     "BF16*7 F32 BF16*3 F32 BF16 "},
    {2, "Q8_0", 0,
     "Q8_0*5 F32 Q8_0*7 F32 Q8_0*7 F32 Q8_0*7 F32 Q8_0*7 F32 Q8_0*7 F32 Q8_0*7 F32 Q8_0*7 F32 Q8_0*7 F32 "
     "Q8_0*7 F32 Q8_0*3 F32 Q8_0 "},
    {2, "Q4_0", 0,
     "Q4_0*2 Q8_0*2 Q4_0 F32 Q4_0*4 Q8_0*2 Q4_0 F32 Q4_0*4 Q8_0*2 Q4_0 F32 Q4_0*4 Q8_0*2 Q4_0 F32 Q4_0*4 "
     "Q8_0*2 Q4_0 F32 Q4_0*4 Q8_0*2 Q4_0 F32 Q4_0*4 Q8_0*2 Q4_0 F32 Q4_0*4 Q8_0*2 Q4_0 F32 Q4_0*4 Q8_0*2 "
     "Q4_0 F32 Q4_0*4 Q8_0*2 Q4_0 F32 Q4_0*3 F32 Q6_K "},
    {2, "Q4_1", 0,
     "Q4_1*2 Q8_0*2 Q4_1 F32 Q4_1*4 Q8_0*2 Q4_1 F32 Q4_1*4 Q8_0*2 Q4_1 F32 Q4_1*4 Q8_0*2 Q4_1 F32 Q4_1*4 "
     "Q8_0*2 Q4_1 F32 Q4_1*4 Q8_0*2 Q4_1 F32 Q4_1*4 Q8_0*2 Q4_1 F32 Q4_1*4 Q8_0*2 Q4_1 F32 Q4_1*4 Q8_0*2 "
     "Q4_1 F32 Q4_1*4 Q8_0*2 Q4_1 F32 Q4_1*3 F32 Q6_K "},
    {2, "Q5_0", 0,
     "Q5_0*2 Q8_0*2 Q5_0 F32 Q5_0*4 Q8_0*2 Q5_0 F32 Q5_0*4 Q8_0*2 Q5_0 F32 Q5_0*4 Q8_0*2 Q5_0 F32 Q5_0*4 "
     "Q8_0*2 Q5_0 F32 Q5_0*4 Q8_0*2 Q5_0 F32 Q5_0*4 Q8_0*2 Q5_0 F32 Q5_0*4 Q8_0*2 Q5_0 F32 Q5_0*4 Q8_0*2 "
     "Q5_0 F32 Q5_0*4 Q8_0*2 Q5_0 F32 Q5_0*3 F32 Q6_K "},
    {2, "Q5_1", 0,
     "Q5_1*2 Q8_0*2 Q5_1 F32 Q5_1*4 Q8_0*2 Q5_1 F32 Q5_1*4 Q8_0*2 Q5_1 F32 Q5_1*4 Q8_0*2 Q5_1 F32 Q5_1*4 "
     "Q8_0*2 Q5_1 F32 Q5_1*4 Q8_0*2 Q5_1 F32 Q5_1*4 Q8_0*2 Q5_1 F32 Q5_1*4 Q8_0*2 Q5_1 F32 Q5_1*4 Q8_0*2 "
     "Q5_1 F32 Q5_1*4 Q8_0*2 Q5_1 F32 Q5_1*3 F32 Q6_K "},
    {2, "Q2_K", 0,
     "Q2_K*2 Q8_0*2 Q5_K F32 Q2_K*2 Q3_K Q2_K Q8_0*2 Q5_K F32 Q2_K*2 Q3_K Q2_K Q8_0*2 Q5_K F32 Q2_K*2 Q3_K "
     "Q2_K Q8_0*2 Q5_K F32 Q2_K*2 Q3_K Q2_K Q8_0*2 Q5_K F32 Q2_K*2 Q3_K Q2_K Q8_0*2 Q5_K F32 Q2_K*2 Q3_K "
     "Q2_K Q8_0*2 Q5_K F32 Q2_K*2 Q3_K Q2_K Q8_0*2 Q5_K F32 Q2_K*2 Q3_K Q2_K Q8_0*2 Q5_K F32 Q2_K*2 Q3_K "
     "Q2_K Q8_0*2 Q5_K F32 Q2_K*2 Q3_K F32 Q6_K "},
    {2, "Q3_K_S", 0,
     "Q3_K*2 Q8_0*2 Q5_K F32 Q3_K*4 Q8_0*2 Q5_K F32 Q3_K*4 Q8_0*2 Q5_K F32 Q3_K*4 Q8_0*2 Q5_K F32 Q3_K*4 "
     "Q8_0*2 Q5_K F32 Q3_K*4 Q8_0*2 Q5_K F32 Q3_K*4 Q8_0*2 Q5_K F32 Q3_K*4 Q8_0*2 Q5_K F32 Q3_K*4 Q8_0*2 "
     "Q5_K F32 Q3_K*4 Q8_0*2 Q5_K F32 Q3_K*3 F32 Q6_K "},
    {2, "Q3_K_M", 0,
     "Q3_K*2 Q8_0*2 Q5_K F32 Q3_K*2 Q4_K Q3_K Q8_0*2 Q5_K F32 Q3_K*2 Q4_K Q3_K Q8_0*2 Q5_K F32 Q3_K*2 Q4_K "
     "Q3_K Q8_0*2 Q5_K F32 Q3_K*2 Q4_K Q3_K Q8_0*2 Q5_K F32 Q3_K*2 Q4_K Q3_K Q8_0*2 Q5_K F32 Q3_K*2 Q4_K "
     "Q3_K Q8_0*2 Q5_K F32 Q3_K*2 Q4_K Q3_K Q8_0*2 Q5_K F32 Q3_K*2 Q4_K Q3_K Q8_0*2 Q5_K F32 Q3_K*2 Q4_K "
     "Q3_K Q8_0*2 Q5_K F32 Q3_K*2 Q4_K F32 Q6_K "},
    {2, "Q3_K_L", 0,
     "Q3_K*2 Q8_0*2 Q3_K F32 Q3_K*2 Q5_K Q3_K Q8_0*2 Q3_K F32 Q3_K*2 Q5_K Q3_K Q8_0*2 Q3_K F32 Q3_K*2 Q5_K "
     "Q3_K Q8_0*2 Q3_K F32 Q3_K*2 Q5_K Q3_K Q8_0*2 Q3_K F32 Q3_K*2 Q5_K Q3_K Q8_0*2 Q3_K F32 Q3_K*2 Q5_K "
     "Q3_K Q8_0*2 Q3_K F32 Q3_K*2 Q5_K Q3_K Q8_0*2 Q3_K F32 Q3_K*2 Q5_K Q3_K Q8_0*2 Q3_K F32 Q3_K*2 Q5_K "
     "Q3_K Q8_0*2 Q3_K F32 Q3_K*2 Q5_K F32 Q6_K "},
    {2, "Q4_K_S", 0,
     "Q4_K*2 Q8_0*2 Q5_K F32 Q4_K*2 Q5_K Q4_K Q8_0*2 Q5_K F32 Q4_K*4 Q8_0*2 Q5_K F32 Q4_K*4 Q8_0*2 Q5_K "
     "F32 Q4_K*4 Q8_0*2 Q5_K F32 Q4_K*4 Q8_0*2 Q5_K F32 Q4_K*4 Q8_0*2 Q5_K F32 Q4_K*4 Q8_0*2 Q5_K F32 "
     "Q4_K*4 Q8_0*2 Q5_K F32 Q4_K*4 Q8_0*2 Q5_K F32 Q4_K*3 F32 Q6_K "},
    {2, "Q4_K_M", 0,
     "Q4_K*2 Q8_0*2 Q5_K F32 Q4_K*2 Q6_K Q4_K Q8_0*2 Q5_K F32 Q4_K*4 Q8_0*2 Q5_K F32 Q4_K*4 Q8_0*2 Q5_K "
     "F32 Q4_K*2 Q6_K Q4_K Q8_0*2 Q5_K F32 Q4_K*4 Q8_0*2 Q5_K F32 Q4_K*4 Q8_0*2 Q5_K F32 Q4_K*2 Q6_K Q4_K "
     "Q8_0*2 Q5_K F32 Q4_K*4 Q8_0*2 Q5_K F32 Q4_K*2 Q6_K Q4_K Q8_0*2 Q5_K F32 Q4_K*2 Q6_K F32 Q6_K "},
    {2, "Q5_K_S", 0,
     "Q5_K*2 Q8_0*2 Q5_K F32 Q5_K*4 Q8_0*2 Q5_K F32 Q5_K*4 Q8_0*2 Q5_K F32 Q5_K*4 Q8_0*2 Q5_K F32 Q5_K*4 "
     "Q8_0*2 Q5_K F32 Q5_K*4 Q8_0*2 Q5_K F32 Q5_K*4 Q8_0*2 Q5_K F32 Q5_K*4 Q8_0*2 Q5_K F32 Q5_K*4 Q8_0*2 "
     "Q5_K F32 Q5_K*4 Q8_0*2 Q5_K F32 Q5_K*3 F32 Q6_K "},
    {2, "Q5_K_M", 0,
     "Q5_K*2 Q8_0*2 Q5_K F32 Q5_K*2 Q6_K Q5_K Q8_0*2 Q5_K F32 Q5_K*4 Q8_0*2 Q5_K F32 Q5_K*4 Q8_0*2 Q5_K "
     "F32 Q5_K*2 Q6_K Q5_K Q8_0*2 Q5_K F32 Q5_K*4 Q8_0*2 Q5_K F32 Q5_K*4 Q8_0*2 Q5_K F32 Q5_K*2 Q6_K Q5_K "
     "Q8_0*2 Q5_K F32 Q5_K*4 Q8_0*2 Q5_K F32 Q5_K*2 Q6_K Q5_K Q8_0*2 Q5_K F32 Q5_K*2 Q6_K F32 Q6_K "},
    {2, "Q6_K", 0,
     "Q6_K*2 Q8_0*2 Q6_K F32 Q6_K*4 Q8_0*2 Q6_K F32 Q6_K*4 Q8_0*2 Q6_K F32 Q6_K*4 Q8_0*2 Q6_K F32 Q6_K*4 "
     "Q8_0*2 Q6_K F32 Q6_K*4 Q8_0*2 Q6_K F32 Q6_K*4 Q8_0*2 Q6_K F32 Q6_K*4 Q8_0*2 Q6_K F32 Q6_K*4 Q8_0*2 "
     "Q6_K F32 Q6_K*4 Q8_0*2 Q6_K F32 Q6_K*3 F32 Q6_K "},
    {2, "IQ4_NL", 0,
     "IQ4_NL*2 Q8_0*2 Q5_K F32 IQ4_NL*2 Q5_K IQ4_NL Q8_0*2 Q5_K F32 IQ4_NL*4 Q8_0*2 Q5_K F32 IQ4_NL*4 "
     "Q8_0*2 Q5_K F32 IQ4_NL*4 Q8_0*2 Q5_K F32 IQ4_NL*4 Q8_0*2 Q5_K F32 IQ4_NL*4 Q8_0*2 Q5_K F32 IQ4_NL*4 "
     "Q8_0*2 Q5_K F32 IQ4_NL*4 Q8_0*2 Q5_K F32 IQ4_NL*4 Q8_0*2 Q5_K F32 IQ4_NL*3 F32 Q6_K "},
    {2, "IQ4_XS", 0,
     "IQ4_XS*2 Q8_0*2 Q5_K F32 IQ4_XS*2 Q5_K IQ4_XS Q8_0*2 Q5_K F32 IQ4_XS*4 Q8_0*2 Q5_K F32 IQ4_XS*4 "
     "Q8_0*2 Q5_K F32 IQ4_XS*4 Q8_0*2 Q5_K F32 IQ4_XS*4 Q8_0*2 Q5_K F32 IQ4_XS*4 Q8_0*2 Q5_K F32 IQ4_XS*4 "
     "Q8_0*2 Q5_K F32 IQ4_XS*4 Q8_0*2 Q5_K F32 IQ4_XS*4 Q8_0*2 Q5_K F32 IQ4_XS*3 F32 Q6_K "},
    {2, "TQ1_0", 0,
     "Q4_K TQ1_0 Q8_0*2 TQ1_0 F32 TQ1_0*4 Q8_0*2 TQ1_0 F32 TQ1_0*4 Q8_0*2 TQ1_0 F32 TQ1_0*4 Q8_0*2 TQ1_0 "
     "F32 TQ1_0*4 Q8_0*2 TQ1_0 F32 TQ1_0*4 Q8_0*2 TQ1_0 F32 TQ1_0*4 Q8_0*2 TQ1_0 F32 TQ1_0*4 Q8_0*2 TQ1_0 "
     "F32 TQ1_0*4 Q8_0*2 TQ1_0 F32 TQ1_0*4 Q8_0*2 TQ1_0 F32 TQ1_0*3 F32 Q6_K "},
    {2, "TQ2_0", 0,
     "Q4_K TQ2_0 Q8_0*2 TQ2_0 F32 TQ2_0*4 Q8_0*2 TQ2_0 F32 TQ2_0*4 Q8_0*2 TQ2_0 F32 TQ2_0*4 Q8_0*2 TQ2_0 "
     "F32 TQ2_0*4 Q8_0*2 TQ2_0 F32 TQ2_0*4 Q8_0*2 TQ2_0 F32 TQ2_0*4 Q8_0*2 TQ2_0 F32 TQ2_0*4 Q8_0*2 TQ2_0 "
     "F32 TQ2_0*4 Q8_0*2 TQ2_0 F32 TQ2_0*4 Q8_0*2 TQ2_0 F32 TQ2_0*3 F32 Q6_K "},
    {2, "MXFP4_MOE", 0,
     "Q8_0*5 F32 MXFP4*3 Q8_0*4 F32 MXFP4*3 Q8_0*4 F32 MXFP4*3 Q8_0*4 F32 MXFP4*3 Q8_0*4 F32 MXFP4*3 "
     "Q8_0*4 F32 MXFP4*3 Q8_0*4 F32 MXFP4*3 Q8_0*4 F32 MXFP4*3 Q8_0*4 F32 MXFP4*3 Q8_0*4 F32 MXFP4*3 F32 "
     "Q8_0 "},
    {2, "Q4_K_M", 1,
     "Q4_K*5 F32 Q4_K*7 F32 Q4_K*7 F32 Q4_K*7 F32 Q4_K*7 F32 Q4_K*7 F32 Q4_K*7 F32 Q4_K*7 F32 Q4_K*7 F32 "
     "Q4_K*7 F32 Q4_K*3 F32 Q4_K "},
    {2, "Q2_K", 1,
     "Q2_K*5 F32 Q2_K*7 F32 Q2_K*7 F32 Q2_K*7 F32 Q2_K*7 F32 Q2_K*7 F32 Q2_K*7 F32 Q2_K*7 F32 Q2_K*7 F32 "
     "Q2_K*7 F32 Q2_K*3 F32 Q2_K "},
    {2, "IQ4_XS", 1,
     "IQ4_XS*5 F32 IQ4_XS*7 F32 IQ4_XS*7 F32 IQ4_XS*7 F32 IQ4_XS*7 F32 IQ4_XS*7 F32 IQ4_XS*7 F32 IQ4_XS*7 "
     "F32 IQ4_XS*7 F32 IQ4_XS*7 F32 IQ4_XS*3 F32 IQ4_XS "},
    {2, "MXFP4_MOE", 1,
     "MXFP4*5 F32 MXFP4*7 F32 MXFP4*7 F32 MXFP4*7 F32 MXFP4*7 F32 MXFP4*7 F32 MXFP4*7 F32 MXFP4*7 F32 "
     "MXFP4*7 F32 MXFP4*7 F32 MXFP4*3 F32 MXFP4 "},
    {3, "F16", 0,
     "F16*81 F32 "},
    {3, "BF16", 0,
     "BF16*81 F32 "},
    {3, "Q8_0", 0,
     "Q8_0*81 F32 "},
    {3, "Q4_0", 0,
     "Q6_K Q4_0*80 F32 "},
    {3, "Q4_1", 0,
     "Q6_K Q4_1*80 F32 "},
    {3, "Q5_0", 0,
     "Q6_K Q5_0*80 F32 "},
    {3, "Q5_1", 0,
     "Q6_K Q5_1*80 F32 "},
    {3, "Q2_K", 0,
     "Q6_K Q5_K*80 F32 "},
    {3, "Q3_K_S", 0,
     "Q6_K Q5_K*80 F32 "},
    {3, "Q3_K_M", 0,
     "Q6_K Q5_K*80 F32 "},
    {3, "Q3_K_L", 0,
     "Q6_K Q5_K*80 F32 "},
    {3, "Q4_K_S", 0,
     "Q6_K Q5_K*80 F32 "},
    {3, "Q4_K_M", 0,
     "Q6_K*11 Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 "
     "Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K "
     "Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K*11 F32 "},
    {3, "Q5_K_S", 0,
     "Q6_K Q5_K*80 F32 "},
    {3, "Q5_K_M", 0,
     "Q6_K*11 Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 "
     "Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K "
     "Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K Q5_K*2 Q6_K*11 F32 "},
    {3, "Q6_K", 0,
     "Q6_K*81 F32 "},
    {3, "IQ4_NL", 0,
     "Q6_K Q5_K*80 F32 "},
    {3, "IQ4_XS", 0,
     "Q6_K Q5_K*80 F32 "},
    {3, "TQ1_0", 0,
     "Q6_K TQ1_0*80 F32 "},
    {3, "TQ2_0", 0,
     "Q6_K TQ2_0*80 F32 "},
    {3, "MXFP4_MOE", 0,
     "Q8_0*81 F32 "},
    {3, "Q4_K_M", 1,
     "Q4_K*81 F32 "},
    {3, "Q2_K", 1,
     "Q2_K*81 F32 "},
    {3, "IQ4_XS", 1,
     "IQ4_XS*81 F32 "},
    {3, "MXFP4_MOE", 1,
     "MXFP4*81 F32 "},
    {4, "F16", 0,
     "F16*129 F32 F16 "},
    {4, "BF16", 0,
     "BF16*129 F32 BF16 "},
    {4, "Q8_0", 0,
     "Q8_0*129 F32 Q8_0 "},
    {4, "Q4_0", 0,
     "Q4_0*129 F32 Q8_0 "},
    {4, "Q4_1", 0,
     "Q4_1*129 F32 Q8_0 "},
    {4, "Q5_0", 0,
     "Q5_0*129 F32 Q8_0 "},
    {4, "Q5_1", 0,
     "Q5_1*129 F32 Q8_0 "},
    {4, "Q2_K", 0,
     "Q2_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K "
     "Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K "
     "Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 "
     "Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K "
     "Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K "
     "Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K Q4_K Q2_K*2 Q3_K F32 Q8_0 "},
    {4, "Q3_K_S", 0,
     "Q3_K*129 F32 Q8_0 "},
    {4, "Q3_K_M", 0,
     "Q3_K Q5_K Q3_K*2 Q5_K*2 Q3_K*2 Q5_K Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K*2 Q3_K*3 Q4_K Q3_K*3 Q4_K Q3_K*2 "
     "Q4_K*2 Q3_K*3 Q4_K Q3_K*3 Q4_K Q3_K*2 Q4_K*2 Q3_K*3 Q4_K Q3_K*3 Q4_K Q3_K*2 Q4_K*2 Q3_K*3 Q4_K "
     "Q3_K*3 Q4_K Q3_K*2 Q4_K*2 Q3_K*3 Q4_K Q3_K*3 Q4_K Q3_K*2 Q4_K*2 Q3_K*3 Q4_K Q3_K*3 Q4_K Q3_K*2 "
     "Q4_K*2 Q3_K*3 Q4_K Q3_K*3 Q4_K Q3_K*2 Q4_K*2 Q3_K*3 Q4_K Q3_K*3 Q4_K Q3_K*2 Q4_K*2 Q3_K*2 Q4_K*2 "
     "Q3_K*2 Q4_K*2 Q3_K*2 Q4_K*2 Q3_K*2 Q4_K F32 Q8_0 "},
    {4, "Q3_K_L", 0,
     "Q3_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K "
     "Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K "
     "Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K "
     "Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K "
     "Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K "
     "Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K "
     "Q4_K Q5_K Q4_K Q3_K Q4_K Q5_K Q4_K Q3_K Q4_K F32 Q8_0 "},
    {4, "Q4_K_S", 0,
     "Q4_K Q5_K Q4_K*3 Q5_K Q4_K*3 Q5_K Q4_K*3 Q5_K Q4_K*115 F32 Q8_0 "},
    {4, "Q4_K_M", 0,
     "Q4_K Q6_K Q4_K*2 Q6_K*2 Q4_K*2 Q6_K*2 Q4_K*2 Q5_K Q6_K Q4_K*2 Q5_K Q4_K*8 Q6_K Q4_K*2 Q5_K Q4_K*8 "
     "Q6_K Q4_K*2 Q5_K Q4_K*8 Q6_K Q4_K*2 Q5_K Q4_K*8 Q6_K Q4_K*2 Q5_K Q4_K*8 Q6_K Q4_K*2 Q5_K Q4_K*8 Q6_K "
     "Q4_K*2 Q5_K Q4_K*8 Q6_K Q4_K*2 Q5_K Q4_K*8 Q6_K Q4_K*2 Q5_K Q6_K Q4_K*2 Q5_K Q6_K Q4_K*2 Q5_K Q6_K "
     "Q4_K*2 Q5_K Q6_K Q4_K*2 Q5_K F32 Q8_0 "},
    {4, "Q5_K_S", 0,
     "Q5_K*129 F32 Q8_0 "},
    {4, "Q5_K_M", 0,
     "Q5_K Q6_K Q5_K*2 Q6_K*2 Q5_K*2 Q6_K*2 Q5_K*2 Q6_K*2 Q5_K*2 Q6_K Q5_K*8 Q6_K Q5_K*2 Q6_K Q5_K*8 Q6_K "
     "Q5_K*2 Q6_K Q5_K*8 Q6_K Q5_K*2 Q6_K Q5_K*8 Q6_K Q5_K*2 Q6_K Q5_K*8 Q6_K Q5_K*2 Q6_K Q5_K*8 Q6_K "
     "Q5_K*2 Q6_K Q5_K*8 Q6_K Q5_K*2 Q6_K Q5_K*8 Q6_K Q5_K*2 Q6_K*2 Q5_K*2 Q6_K*2 Q5_K*2 Q6_K*2 Q5_K*2 "
     "Q6_K*2 Q5_K*2 Q6_K F32 Q8_0 "},
    {4, "Q6_K", 0,
     "Q6_K*129 F32 Q8_0 "},
    {4, "IQ4_NL", 0,
     "IQ4_NL Q5_K IQ4_NL*2 Q5_K*2 IQ4_NL*2 Q5_K*2 IQ4_NL*2 Q5_K*2 IQ4_NL*2 Q5_K*2 IQ4_NL*3 Q5_K IQ4_NL*3 "
     "Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 "
     "Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 "
     "Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 "
     "Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 Q5_K IQ4_NL*3 F32 Q8_0 "},
    {4, "IQ4_XS", 0,
     "IQ4_XS Q5_K IQ4_XS*2 Q5_K*2 IQ4_XS*2 Q5_K*2 IQ4_XS*2 Q5_K*2 IQ4_XS*2 Q5_K*2 IQ4_XS*3 Q5_K IQ4_XS*3 "
     "Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 "
     "Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 "
     "Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 "
     "Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 Q5_K IQ4_XS*3 F32 Q8_0 "},
    {4, "TQ1_0", 0,
     "Q4_K TQ1_0*128 F32 Q8_0 "},
    {4, "TQ2_0", 0,
     "Q4_K TQ2_0*128 F32 Q8_0 "},
    {4, "MXFP4_MOE", 0,
     "Q8_0*129 F32 Q8_0 "},
    {4, "Q4_K_M", 1,
     "Q4_K*129 F32 Q4_K "},
    {4, "Q2_K", 1,
     "Q2_K*129 F32 Q2_K "},
    {4, "IQ4_XS", 1,
     "IQ4_XS*129 F32 IQ4_XS "},
    {4, "MXFP4_MOE", 1,
     "MXFP4*129 F32 MXFP4 "},
    {5, "F16", 0,
     "F16*22 F32 F16 "},
    {5, "BF16", 0,
     "BF16*22 F32 BF16 "},
    {5, "Q8_0", 0,
     "F16*22 F32 F16 "},
    {5, "Q4_0", 0,
     "F16*22 F32 F16 "},
    {5, "Q4_1", 0,
     "F16*22 F32 F16 "},
    {5, "Q5_0", 0,
     "F16*22 F32 F16 "},
    {5, "Q5_1", 0,
     "F16*22 F32 F16 "},
    {5, "Q2_K", 0,
     "F16*22 F32 F16 "},
    {5, "Q3_K_S", 0,
     "F16*22 F32 F16 "},
    {5, "Q3_K_M", 0,
     "F16*22 F32 F16 "},
    {5, "Q3_K_L", 0,
     "F16*22 F32 F16 "},
    {5, "Q4_K_S", 0,
     "F16*22 F32 F16 "},
    {5, "Q4_K_M", 0,
     "F16*22 F32 F16 "},
    {5, "Q5_K_S", 0,
     "F16*22 F32 F16 "},
    {5, "Q5_K_M", 0,
     "F16*22 F32 F16 "},
    {5, "Q6_K", 0,
     "F16*22 F32 F16 "},
    {5, "IQ4_NL", 0,
     "F16*22 F32 F16 "},
    {5, "IQ4_XS", 0,
     "F16*22 F32 F16 "},
    {5, "TQ1_0", 0,
     "F16*22 F32 F16 "},
    {5, "TQ2_0", 0,
     "F16*22 F32 F16 "},
    {5, "MXFP4_MOE", 0,
     "F16*22 F32 F16 "},
    {5, "Q4_K_M", 1,
     "F16*22 F32 F16 "},
    {5, "Q2_K", 1,
     "F16*22 F32 F16 "},
    {5, "IQ4_XS", 1,
     "F16*22 F32 F16 "},
    {5, "MXFP4_MOE", 1,
     "F16*22 F32 F16 "},
};
