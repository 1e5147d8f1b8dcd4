/* SPDX-License-Identifier: MIT */
/* Written by hf_folders.py. */

static const hf_tensor hf_tensors_0[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_proj.bias", {40}, 1, 2, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.bias", {40}, 1, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.bias", {240}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {240, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 480}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.bias", {480}, 1, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {480, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.bias", {240}, 1, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {240, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_0[] =
    "{\"attention_bias\": true, \"head_dim\": 80, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size"
    "\": 40, \"max_position_embeddings\": 64, \"mlp_bias\": true, \"model_type\": \"llama\", \"num_attention_heads\""
    ": 6, \"num_hidden_layers\": 2, \"num_key_value_heads\": 3, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\"r"
    "ope_theta\": 10000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\": false, \"vocab_size\": 40}";
static const float hf_logits_0[] = {
    -1.8612763e+00f, -3.5829690e+00f, -6.8325555e-01f, 6.6088214e+00f, -6.3930907e+00f, 6.9004068e+00f, 5.6383550e-01f, -4.0731549e+00f,
    1.8705145e+00f, -1.2309916e+00f, 4.2779737e+00f, -1.1466619e+00f, -1.4972231e+00f, -3.6178422e+00f, -3.8108940e+00f, -1.1269085e+00f,
    -1.3769796e+00f, -4.3447113e+00f, -6.4912262e+00f, -1.8540019e+00f, 6.2141199e+00f, 2.6723018e+00f, -2.9266112e+00f, -6.7062475e-02f,
    4.1130810e+00f, -4.8083506e+00f, -9.0855354e-01f, -3.8630465e-01f, 4.2529802e+00f, -1.3676968e+00f, 8.1376410e+00f, -2.7488484e+00f,
    -7.4743062e-01f, 3.5845515e-01f, 2.2086608e+00f, -2.5008895e+00f, 1.0655725e+00f, -3.3208506e+00f, 1.7133458e+00f, -5.0749006e+00f,
};

static const hf_tensor hf_tensors_1[] = {
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_1[] =
    "{\"attention_bias\": false, \"head_dim\": 8, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size"
    "\": 40, \"max_position_embeddings\": 64, \"mlp_bias\": false, \"model_type\": \"llama\", \"num_attention_heads"
    "\": 6, \"num_hidden_layers\": 2, \"num_key_value_heads\": 3, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\""
    "factor\": 8.0, \"high_freq_factor\": 4.0, \"low_freq_factor\": 1.0, \"original_max_position_embeddings\": 3"
    "2, \"rope_theta\": 500000.0, \"rope_type\": \"llama3\"}, \"tie_word_embeddings\": true, \"vocab_size\": 40}";
static const float hf_logits_1[] = {
    3.0752563e+00f, 2.8696545e+01f, -2.7714896e+00f, -3.1785789e-01f, -2.9276597e+00f, 1.0568851e-02f, -2.8831914e-02f, 3.8050108e+00f,
    1.8282650e-01f, 5.1217155e+00f, -3.2869637e+00f, 5.3622317e-01f, 1.9137253e+00f, -4.7060485e+00f, -2.0961351e+00f, 1.8965373e+00f,
    -2.1052139e+00f, -1.1554918e+00f, -3.1691432e-02f, 6.4284458e+00f, -4.2179065e+00f, 1.1066371e+00f, 8.3995104e+00f, 1.8345655e+00f,
    7.1994108e-01f, 5.7956729e+00f, -1.4182657e+00f, 4.4633083e+00f, -4.8266670e-01f, -1.9912851e+00f, 1.1486939e+00f, 2.3076007e+00f,
    -3.0459232e+00f, -5.3913653e-01f, -5.0277796e+00f, -3.6506586e+00f, 2.0814900e+00f, -5.3009272e+00f, -3.2963550e+00f, 2.1465237e+00f,
};

static const hf_tensor hf_tensors_2[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {288, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 576}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {576, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {288, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_2[] =
    "{\"head_dim\": 96, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"max_position_emb"
    "eddings\": 64, \"model_type\": \"mistral\", \"num_attention_heads\": 6, \"num_hidden_layers\": 2, \"num_key_va"
    "lue_heads\": 3, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\"rope_theta\": 10000.0, \"rope_type\": \"defau"
    "lt\"}, \"sliding_window\": 7, \"tie_word_embeddings\": false, \"vocab_size\": 40}";
static const float hf_logits_2[] = {
    -3.0921221e+00f, 2.7595642e+00f, -3.4812186e+00f, 1.0745762e+01f, 1.6570544e+00f, 1.3935183e+00f, -1.8226048e+00f, -1.3451490e-01f,
    1.2036263e+00f, -2.7897861e+00f, 6.5099378e+00f, -2.4908037e-01f, -7.0109296e+00f, 4.8345385e+00f, 1.0911332e+00f, -7.1138477e+00f,
    4.8985553e+00f, -2.2137868e+00f, 3.4165514e+00f, -6.8292279e+00f, 1.3008592e+00f, 2.0718746e-01f, -2.9913357e-01f, -5.3697777e+00f,
    2.4816880e+00f, -8.3828974e-01f, 1.7555124e+00f, -3.3542106e+00f, 4.5962791e+00f, -7.5032592e-01f, 6.8340640e+00f, -2.7074053e+00f,
    2.3042705e+00f, -4.4505596e-01f, 5.1390944e+00f, 2.8332099e-01f, -1.4952104e+00f, -2.5284493e+00f, 5.6779730e-01f, -4.0801816e+00f,
};

static const hf_tensor hf_tensors_3[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.block_sparse_moe.experts.#.w1.weight", {40, 48}, 2, 2, 5},
    {"model.layers.#.block_sparse_moe.experts.#.w2.weight", {48, 40}, 2, 2, 5},
    {"model.layers.#.block_sparse_moe.experts.#.w3.weight", {40, 48}, 2, 2, 5},
    {"model.layers.#.block_sparse_moe.gate.weight", {5, 48}, 2, 2, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_3[] =
    "{\"head_dim\": null, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"max_position_e"
    "mbeddings\": 64, \"model_type\": \"mixtral\", \"num_attention_heads\": 6, \"num_experts_per_tok\": 3, \"num_hi"
    "dden_layers\": 2, \"num_key_value_heads\": 3, \"num_local_experts\": 5, \"rms_norm_eps\": 1e-05, \"rope_para"
    "meters\": {\"rope_theta\": 1000000.0, \"rope_type\": \"default\"}, \"sliding_window\": null, \"tie_word_embedd"
    "ings\": false, \"vocab_size\": 40}";
static const float hf_logits_3[] = {
    -1.1494612e+00f, -1.2799743e+00f, -7.1668220e-01f, 8.6602669e+00f, -5.3685484e+00f, 5.4070420e+00f, 1.6074303e+00f, -1.8666019e+00f,
    2.6834702e+00f, -1.2819356e+00f, 6.9135528e+00f, -2.7229078e+00f, 1.1117861e+00f, 1.6699524e+00f, -2.0880206e+00f, -3.6554432e+00f,
    -1.6622354e-01f, -6.3809099e+00f, -4.5392113e+00f, -4.9572678e+00f, 7.8502364e+00f, 3.1935146e+00f, -3.4096878e+00f, -3.4210339e+00f,
    2.8835833e+00f, -1.7406223e+00f, -1.8915546e+00f, -3.3019443e+00f, 5.7548966e+00f, 1.4776539e+00f, 8.9125576e+00f, -4.0878196e+00f,
    -2.3169713e-01f, 8.1184012e-01f, 1.5734100e+00f, 2.3478270e+00f, -8.2627493e-01f, -7.0218697e+00f, -1.6315678e-01f, -3.0251143e+00f,
};

static const hf_tensor hf_tensors_4[] = {
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 5, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 5, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 5, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 5, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 5, 1},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 5, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 5, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 5, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 5, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_4[] =
    "{\"attention_bias\": false, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_t"
    "ypes\": [\"full_attention\", \"full_attention\", \"full_attention\", \"full_attention\", \"full_attention\"], \""
    "max_position_embeddings\": 64, \"mlp_bias\": false, \"model_type\": \"smollm3\", \"no_rope_layer_interval\": "
    "4, \"no_rope_layers\": [1, 1, 1, 0, 1], \"num_attention_heads\": 6, \"num_hidden_layers\": 5, \"num_key_val"
    "ue_heads\": 3, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\"rope_theta\": 2000000.0, \"rope_type\": \"defa"
    "ult\"}, \"sliding_window\": null, \"tie_word_embeddings\": true, \"use_sliding_window\": false, \"vocab_size"
    "\": 40}";
static const float hf_logits_4[] = {
    1.4880178e+00f, 2.8119549e+01f, -2.6951549e+00f, -1.3449066e+00f, -3.1274233e+00f, 7.2510511e-02f, -1.1808301e+00f, 3.6260228e+00f,
    1.3266464e-01f, 4.9817052e+00f, -1.9140151e+00f, 1.3424011e+00f, 1.8845929e+00f, -4.0037303e+00f, -1.6495171e+00f, 2.1488035e-01f,
    -1.7805139e+00f, -1.2535068e+00f, 1.3279772e-01f, 6.2879982e+00f, -4.0463920e+00f, 1.6669035e+00f, 9.0384331e+00f, 2.1978514e+00f,
    -1.2506302e-01f, 5.6280761e+00f, -1.1233633e+00f, 4.2152658e+00f, 1.4445430e-01f, -2.1203671e+00f, 1.9010950e+00f, 1.7556736e+00f,
    -2.6932526e+00f, -1.3549925e-01f, -5.3611579e+00f, -3.7185733e+00f, 1.8542039e+00f, -5.3856807e+00f, -3.1375682e+00f, 1.6597828e+00f,
};

static const hf_tensor hf_tensors_5[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_5[] =
    "{\"attention_bias\": false, \"attention_multiplier\": 0.25, \"embedding_multiplier\": 6.0, \"hidden_act\": \""
    "silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"logits_scaling\": 4.0, \"max_position_embeddings\":"
    " 64, \"mlp_bias\": false, \"model_type\": \"granite\", \"num_attention_heads\": 6, \"num_hidden_layers\": 2, \""
    "num_key_value_heads\": 3, \"residual_multiplier\": 0.5, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\"rop"
    "e_theta\": 10000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\": false, \"vocab_size\": 40}";
static const float hf_logits_5[] = {
    -3.3820593e-01f, -3.0651888e-01f, -3.0167437e-01f, 2.1002285e+00f, -1.2071972e+00f, 1.2559069e+00f, 3.8225171e-01f, -5.9576535e-01f,
    5.3811628e-01f, -3.0275512e-01f, 1.6557111e+00f, -6.0634512e-01f, 4.6295160e-01f, 2.8994405e-01f, -5.1552027e-01f, -8.4129709e-01f,
    5.3922120e-02f, -1.3580905e+00f, -1.2273525e+00f, -1.1899494e+00f, 1.9283104e+00f, 8.4634840e-01f, -8.3017552e-01f, -8.1880462e-01f,
    6.3371223e-01f, -3.5636336e-01f, -4.7969136e-01f, -9.0806735e-01f, 1.4220822e+00f, 2.4692865e-01f, 2.2846236e+00f, -9.1839051e-01f,
    -1.6988559e-01f, 1.1317980e-01f, 4.1213804e-01f, 6.0426825e-01f, -2.6282451e-01f, -1.7261432e+00f, -9.0986025e-03f, -8.2688886e-01f,
};

static const hf_tensor hf_tensors_6[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.bias", {24}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.bias", {24}, 1, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_6[] =
    "{\"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_types\": [\"full_attention\","
    " \"full_attention\"], \"max_position_embeddings\": 64, \"max_window_layers\": 28, \"model_type\": \"qwen2\", \""
    "num_attention_heads\": 6, \"num_hidden_layers\": 2, \"num_key_value_heads\": 3, \"rms_norm_eps\": 1e-06, \"r"
    "ope_parameters\": {\"factor\": 4.0, \"original_max_position_embeddings\": 16, \"rope_theta\": 10000.0, \"rop"
    "e_type\": \"yarn\"}, \"sliding_window\": null, \"tie_word_embeddings\": false, \"use_sliding_window\": false,"
    " \"vocab_size\": 40}";
static const float hf_logits_6[] = {
    -2.0444298e-01f, -2.1038613e+00f, -9.9834359e-01f, 7.5837994e+00f, -4.2885146e+00f, 5.3104906e+00f, 1.4202894e+00f, -2.1284308e+00f,
    2.8390565e+00f, -1.7549254e+00f, 5.9086804e+00f, -1.9939590e+00f, 1.8567779e+00f, 2.6109865e+00f, -3.3522263e+00f, -4.0110168e+00f,
    -3.2373112e-01f, -6.3837357e+00f, -5.8275003e+00f, -3.6658220e+00f, 7.5479736e+00f, 3.3713520e+00f, -3.2658865e+00f, -3.6947916e+00f,
    2.1594422e+00f, -1.1662126e+00f, -1.4871484e+00f, -2.8743079e+00f, 5.7467747e+00f, 1.6559564e+00f, 8.2692871e+00f, -3.5140083e+00f,
    -3.0890590e-01f, 1.3290820e+00f, 1.5342498e+00f, 1.7320582e+00f, 1.3026452e-01f, -6.1817098e+00f, -7.8312077e-02f, -2.9727976e+00f,
};

static const hf_tensor hf_tensors_7[] = {
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_norm.weight", {96}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {288, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 576}, 2, 2, 1},
    {"model.layers.#.self_attn.q_norm.weight", {96}, 1, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {576, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {288, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_7[] =
    "{\"attention_bias\": false, \"head_dim\": 96, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_siz"
    "e\": 40, \"layer_types\": [\"full_attention\", \"full_attention\"], \"max_position_embeddings\": 64, \"max_win"
    "dow_layers\": 28, \"model_type\": \"qwen3\", \"num_attention_heads\": 6, \"num_hidden_layers\": 2, \"num_key_v"
    "alue_heads\": 3, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\"rope_theta\": 10000.0, \"rope_type\": \"defa"
    "ult\"}, \"sliding_window\": null, \"tie_word_embeddings\": true, \"use_sliding_window\": false, \"vocab_size"
    "\": 40}";
static const float hf_logits_7[] = {
    5.0396776e+00f, 2.2795198e+01f, -3.1449909e+00f, 1.0084318e+00f, 2.1895545e+00f, -4.1121277e-01f, 1.4261999e+00f, -3.3759027e+00f,
    2.2811182e+00f, -1.5482607e+00f, -4.3082986e+00f, 1.2915285e+00f, 2.9355365e-01f, -2.5147431e+00f, -2.5551789e+00f, 3.8927102e+00f,
    2.7145755e+00f, -3.7986034e-01f, -5.8276886e-01f, 2.9592967e+00f, -4.8573551e+00f, 1.4413874e+00f, 9.3274498e+00f, 3.5525069e+00f,
    5.4269867e+00f, 3.4357154e+00f, -2.4858720e+00f, 3.7750537e+00f, 7.5491774e-01f, 2.6938860e+00f, -9.2200041e-01f, -1.8128902e-01f,
    -4.4215918e+00f, 1.5492140e+00f, -1.9412276e+00f, -2.1352923e+00f, 7.3970634e-01f, -4.5600123e+00f, -3.1697798e+00f, 4.1995519e-01f,
};

static const hf_tensor hf_tensors_8[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.experts.#.down_proj.weight", {48, 24}, 2, 2, 5},
    {"model.layers.#.mlp.experts.#.gate_proj.weight", {24, 48}, 2, 2, 5},
    {"model.layers.#.mlp.experts.#.up_proj.weight", {24, 48}, 2, 2, 5},
    {"model.layers.#.mlp.gate.weight", {5, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_norm.weight", {16}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 96}, 2, 2, 1},
    {"model.layers.#.self_attn.q_norm.weight", {16}, 1, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {96, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {48, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_8[] =
    "{\"attention_bias\": false, \"decoder_sparse_step\": 1, \"head_dim\": 16, \"hidden_act\": \"silu\", \"hidden_si"
    "ze\": 48, \"intermediate_size\": 40, \"max_position_embeddings\": 64, \"mlp_only_layers\": [], \"model_type\""
    ": \"qwen3_moe\", \"moe_intermediate_size\": 24, \"norm_topk_prob\": true, \"num_attention_heads\": 6, \"num_e"
    "xperts_per_tok\": 3, \"num_hidden_layers\": 2, \"num_key_value_heads\": 3, \"num_local_experts\": 5, \"rms_n"
    "orm_eps\": 1e-06, \"rope_parameters\": {\"rope_theta\": 10000.0, \"rope_type\": \"default\"}, \"sliding_window"
    "\": null, \"tie_word_embeddings\": false, \"use_sliding_window\": false, \"vocab_size\": 40}";
static const float hf_logits_8[] = {
    -1.6930779e+00f, -2.0096996e-01f, -1.2683111e+00f, 7.2838717e+00f, -3.0659449e+00f, 3.3249633e+00f, 2.1255248e+00f, -2.3862722e+00f,
    2.1876059e+00f, -1.9193882e+00f, 5.8216872e+00f, -3.2774282e+00f, 2.5146604e+00f, 2.2077405e+00f, -1.3351541e+00f, -4.6451182e+00f,
    1.4621265e-01f, -4.1405692e+00f, -5.6834679e+00f, -6.0787792e+00f, 6.5161090e+00f, 2.7932265e+00f, -3.6369317e+00f, -3.2049646e+00f,
    3.4103258e+00f, -7.1823013e-01f, -1.9365323e+00f, -4.3724718e+00f, 6.8459558e+00f, 1.3984044e+00f, 8.5879183e+00f, -3.3188608e+00f,
    -1.6093680e+00f, -1.0227360e-01f, 2.2064021e+00f, 1.9814909e+00f, -9.6319211e-01f, -6.6654353e+00f, -4.9971661e-01f, -3.2514889e+00f,
};

static const hf_tensor hf_tensors_9[] = {
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 96}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {96, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {48, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_9[] =
    "{\"attention_bias\": false, \"head_dim\": 16, \"hidden_act\": \"gelu_pytorch_tanh\", \"hidden_size\": 48, \"int"
    "ermediate_size\": 40, \"max_position_embeddings\": 64, \"model_type\": \"gemma\", \"num_attention_heads\": 6,"
    " \"num_hidden_layers\": 2, \"num_key_value_heads\": 3, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\"rope_"
    "theta\": 10000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\": true, \"use_bidirectional_attention\""
    ": null, \"vocab_size\": 40}";
static const float hf_logits_9[] = {
    5.3032756e+00f, 5.8298500e+01f, -6.7741756e+00f, -1.1558233e-02f, -5.0241046e+00f, 2.1549350e-01f, 1.3770688e+00f, 6.9917645e+00f,
    -1.2225351e+00f, 9.3777113e+00f, -5.5270338e+00f, 1.1351565e+00f, 4.4243379e+00f, -7.6757841e+00f, -3.0121970e+00f, 3.3055894e+00f,
    -3.1457884e+00f, -4.6070461e+00f, -1.3467164e-01f, 1.3673198e+01f, -8.5963163e+00f, 4.3603950e+00f, 1.6677654e+01f, 4.2469082e+00f,
    1.6587149e+00f, 1.0619348e+01f, -2.4178226e+00f, 8.9618549e+00f, -7.3889744e-01f, -4.1073575e+00f, 3.3449957e+00f, 5.4126439e+00f,
    -6.5167718e+00f, -2.1859050e+00f, -1.0310158e+01f, -6.9103098e+00f, 2.9229507e+00f, -1.1001047e+01f, -5.6797247e+00f, 6.1159701e+00f,
};

static const hf_tensor hf_tensors_10[] = {
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 3, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 3, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 3, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.post_feedforward_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.pre_feedforward_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.self_attn.k_proj.weight", {48, 48}, 2, 3, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 96}, 2, 3, 1},
    {"model.layers.#.self_attn.q_proj.weight", {96, 48}, 2, 3, 1},
    {"model.layers.#.self_attn.v_proj.weight", {48, 48}, 2, 3, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_10[] =
    "{\"attention_bias\": false, \"attn_logit_softcapping\": 50.0, \"final_logit_softcapping\": 30.0, \"head_dim"
    "\": 16, \"hidden_activation\": \"gelu_pytorch_tanh\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_"
    "types\": [\"sliding_attention\", \"full_attention\", \"sliding_attention\"], \"max_position_embeddings\": 64,"
    " \"model_type\": \"gemma2\", \"num_attention_heads\": 6, \"num_hidden_layers\": 3, \"num_key_value_heads\": 3,"
    " \"query_pre_attn_scalar\": 16, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\"rope_theta\": 10000.0, \"rop"
    "e_type\": \"default\"}, \"sliding_window\": 7, \"tie_word_embeddings\": true, \"use_bidirectional_attention\""
    ": null, \"vocab_size\": 40}";
static const float hf_logits_10[] = {
    3.4292505e+00f, 2.5240965e+01f, -1.6508938e+00f, -5.9890380e+00f, 1.3339957e+00f, 2.9107621e+00f, 1.1231825e+01f, -9.7787237e-01f,
    1.0115380e+00f, -4.0305700e+00f, 4.8861328e-01f, 1.6337667e+01f, 7.8669586e+00f, 1.5749429e-01f, -4.7186222e+00f, 3.7886024e+00f,
    -8.9249105e+00f, 6.8735175e+00f, 2.1326451e-01f, 1.1853196e+01f, -1.1473589e+01f, 3.3215485e+00f, 1.0764645e+01f, 5.2793713e+00f,
    1.8504082e+00f, 4.4204445e+00f, -1.8219914e+00f, 9.7544641e+00f, -1.7977421e+00f, -5.1480446e+00f, -7.0927110e+00f, 1.4110224e+01f,
    -4.4355762e-01f, 3.3158510e+00f, -8.5670834e+00f, -8.2360182e+00f, 6.0004461e-01f, 2.3182178e+00f, -4.8689585e+00f, 7.5106921e+00f,
};

static const hf_tensor hf_tensors_11[] = {
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 7, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 7, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 7, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 7, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 7, 1},
    {"model.layers.#.post_feedforward_layernorm.weight", {48}, 1, 7, 1},
    {"model.layers.#.pre_feedforward_layernorm.weight", {48}, 1, 7, 1},
    {"model.layers.#.self_attn.k_norm.weight", {16}, 1, 7, 1},
    {"model.layers.#.self_attn.k_proj.weight", {48, 48}, 2, 7, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 96}, 2, 7, 1},
    {"model.layers.#.self_attn.q_norm.weight", {16}, 1, 7, 1},
    {"model.layers.#.self_attn.q_proj.weight", {96, 48}, 2, 7, 1},
    {"model.layers.#.self_attn.v_proj.weight", {48, 48}, 2, 7, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_11[] =
    "{\"attention_bias\": false, \"attn_logit_softcapping\": null, \"final_logit_softcapping\": null, \"head_dim"
    "\": 16, \"hidden_activation\": \"gelu_pytorch_tanh\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_"
    "types\": [\"sliding_attention\", \"sliding_attention\", \"sliding_attention\", \"sliding_attention\", \"slidin"
    "g_attention\", \"full_attention\", \"sliding_attention\"], \"max_position_embeddings\": 64, \"model_type\": \""
    "gemma3_text\", \"num_attention_heads\": 6, \"num_hidden_layers\": 7, \"num_key_value_heads\": 3, \"query_pre"
    "_attn_scalar\": 16, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\"full_attention\": {\"rope_theta\": 10000"
    "00.0, \"rope_type\": \"default\"}, \"sliding_attention\": {\"rope_theta\": 10000.0, \"rope_type\": \"default\"}}"
    ", \"sliding_window\": 7, \"tie_word_embeddings\": true, \"use_bidirectional_attention\": false, \"vocab_siz"
    "e\": 40}";
static const float hf_logits_11[] = {
    3.8958988e+00f, 2.8822123e+01f, 9.2191238e+00f, -3.2966905e+00f, -4.5008621e+00f, 6.5509443e+00f, 8.5357227e+00f, -8.3062086e+00f,
    6.8923864e+00f, 8.5938253e-02f, -1.3468505e+01f, 1.4991628e+01f, 9.6002550e+00f, 8.4339845e-01f, 5.7762513e+00f, 1.7768801e+01f,
    -1.1436039e+01f, 7.9489040e+00f, -7.3313861e+00f, 1.1963848e+01f, -7.3420234e+00f, 4.2778382e+00f, 9.8743563e+00f, 8.6671238e+00f,
    -7.4821286e+00f, 1.2220993e+00f, 8.3920377e-01f, 1.8727163e+00f, -5.2624540e+00f, -4.4523430e-01f, -7.6753860e+00f, 5.4065828e+00f,
    7.5982909e+00f, 3.9636445e-01f, -1.3382677e+01f, -1.2635333e+01f, 2.6440561e+00f, 2.3293073e+00f, -2.1403093e+00f, -1.7249080e+00f,
};

static const hf_tensor hf_tensors_12[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_up_proj.weight", {80, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.qkv_proj.weight", {96, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_12[] =
    "{\"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"max_position_embeddings\": 64, \"m"
    "odel_type\": \"phi3\", \"num_attention_heads\": 6, \"num_hidden_layers\": 2, \"num_key_value_heads\": 3, \"ori"
    "ginal_max_position_embeddings\": 4096, \"rms_norm_eps\": 1e-05, \"rope_parameters\": {\"partial_rotary_fac"
    "tor\": 1.0, \"rope_theta\": 10000.0, \"rope_type\": \"default\"}, \"sliding_window\": 7, \"tie_word_embeddings"
    "\": false, \"vocab_size\": 40}";
static const float hf_logits_12[] = {
    -2.7142053e+00f, -1.3748224e+00f, -1.9275633e+00f, 8.3343811e+00f, -3.6350265e+00f, 4.5424223e+00f, 7.2631538e-01f, -1.7338131e-01f,
    1.1099561e-01f, -1.3928245e+00f, 7.9696255e+00f, -3.4699051e+00f, 1.1862917e+00f, 1.3741572e+00f, -5.1377070e-01f, -4.7432823e+00f,
    -6.5241337e-01f, -3.7409265e+00f, -4.7182646e+00f, -4.7519488e+00f, 7.9240494e+00f, 1.6102175e+00f, -2.4739370e+00f, -3.0217166e+00f,
    -7.0109349e-01f, 1.6101812e-01f, -2.6915922e+00f, -4.7536550e+00f, 7.6390672e+00f, 1.0297416e+00f, 7.0437922e+00f, -2.1142349e+00f,
    -9.8940426e-01f, 1.2094182e+00f, 1.5311259e+00f, 3.6760058e+00f, -2.6765747e+00f, -6.3787785e+00f, -6.8984586e-01f, -3.2255316e+00f,
};

static const hf_tensor hf_tensors_13[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_up_proj.weight", {80, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.qkv_proj.weight", {96, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_13[] =
    "{\"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"max_position_embeddings\": 64, \"m"
    "odel_type\": \"phi3\", \"num_attention_heads\": 6, \"num_hidden_layers\": 2, \"num_key_value_heads\": 3, \"ori"
    "ginal_max_position_embeddings\": 16, \"rms_norm_eps\": 1e-05, \"rope_parameters\": {\"long_factor\": [1.5, "
    "1.75, 2.0, 2.25], \"original_max_position_embeddings\": 16, \"partial_rotary_factor\": 1.0, \"rope_theta\""
    ": 10000.0, \"rope_type\": \"longrope\", \"short_factor\": [1.0, 1.125, 1.25, 1.375]}, \"sliding_window\": nu"
    "ll, \"tie_word_embeddings\": false, \"vocab_size\": 40}";
static const float hf_logits_13[] = {
    -2.6866567e+00f, -1.6455641e+00f, -1.9388653e+00f, 8.3464680e+00f, -3.8561554e+00f, 4.4869080e+00f, 1.5471975e+00f, -1.4064790e+00f,
    7.8277123e-01f, -9.9780130e-01f, 7.5138302e+00f, -2.3491259e+00f, 1.9929948e+00f, 7.0283264e-01f, -1.6184355e+00f, -2.9464929e+00f,
    -6.1378890e-01f, -4.8335681e+00f, -4.3147321e+00f, -5.0793285e+00f, 7.5669827e+00f, 2.0583391e+00f, -3.5152993e+00f, -2.5441930e+00f,
    7.9609281e-01f, -3.9762685e-01f, -2.3277225e+00f, -4.0509400e+00f, 7.4768739e+00f, 1.2452778e+00f, 8.3284626e+00f, -3.4505558e+00f,
    -7.9239637e-01f, 7.2656196e-01f, 2.2554522e+00f, 2.9467313e+00f, -2.5836999e+00f, -7.0983310e+00f, -3.0970475e-01f, -3.4799154e+00f,
};

static const hf_tensor hf_tensors_14[] = {
    {"language_model.model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"language_model.model.layers.#.input_layernorm.weight", {48}, 1, 3, 1},
    {"language_model.model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 3, 1},
    {"language_model.model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 3, 1},
    {"language_model.model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 3, 1},
    {"language_model.model.layers.#.post_attention_layernorm.weight", {48}, 1, 3, 1},
    {"language_model.model.layers.#.post_feedforward_layernorm.weight", {48}, 1, 3, 1},
    {"language_model.model.layers.#.pre_feedforward_layernorm.weight", {48}, 1, 3, 1},
    {"language_model.model.layers.#.self_attn.k_norm.weight", {16}, 1, 3, 1},
    {"language_model.model.layers.#.self_attn.k_proj.weight", {48, 48}, 2, 3, 1},
    {"language_model.model.layers.#.self_attn.o_proj.weight", {48, 96}, 2, 3, 1},
    {"language_model.model.layers.#.self_attn.q_norm.weight", {16}, 1, 3, 1},
    {"language_model.model.layers.#.self_attn.q_proj.weight", {96, 48}, 2, 3, 1},
    {"language_model.model.layers.#.self_attn.v_proj.weight", {48, 48}, 2, 3, 1},
    {"language_model.model.norm.weight", {48}, 1, 1, 1},
    {"multi_modal_projector.mm_soft_emb_norm.weight", {8}, 1, 1, 1},
    {0},
};
static const char hf_config_14[] =
    "{\"model_type\": \"gemma3\", \"text_config\": {\"_sliding_window_pattern\": 6, \"attention_bias\": false, \"att"
    "ention_dropout\": 0.0, \"attn_logit_softcapping\": null, \"bos_token_id\": 2, \"eos_token_id\": 1, \"final_l"
    "ogit_softcapping\": null, \"head_dim\": 16, \"hidden_activation\": \"gelu_pytorch_tanh\", \"hidden_size\": 48"
    ", \"initializer_range\": 0.02, \"intermediate_size\": 40, \"layer_types\": [\"sliding_attention\", \"sliding_"
    "attention\", \"sliding_attention\"], \"max_position_embeddings\": 64, \"model_type\": \"gemma3_text\", \"num_a"
    "ttention_heads\": 6, \"num_hidden_layers\": 3, \"num_key_value_heads\": 3, \"pad_token_id\": 0, \"query_pre_"
    "attn_scalar\": 16, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\"full_attention\": {\"rope_theta\": 100000"
    "0.0, \"rope_type\": \"default\"}, \"sliding_attention\": {\"rope_theta\": 10000.0, \"rope_type\": \"default\"}},"
    " \"sliding_window\": 7, \"tie_word_embeddings\": true, \"use_bidirectional_attention\": false, \"use_cache\""
    ": true, \"vocab_size\": 40}, \"tie_word_embeddings\": true}";
static const float hf_logits_14[] = {
    -1.6161839e+00f, 3.4430599e+01f, 1.9432861e+00f, -1.2265071e+01f, 8.7794294e+00f, -5.0677948e+00f, 7.1504250e+00f, -8.3379602e+00f,
    7.1024928e+00f, 6.4281335e+00f, 1.0587362e+00f, 1.1785600e+01f, 9.1348896e+00f, -3.4285972e+00f, 2.1685653e+00f, -1.9654580e+00f,
    1.0355072e+01f, 1.1013493e+01f, 1.5137001e+00f, 1.2282388e+01f, -1.2017249e+01f, -1.8596084e+00f, -2.6726208e+00f, -1.3946416e+00f,
    -6.9442887e+00f, 1.4007688e+00f, -1.2562143e+01f, -5.5633569e+00f, -1.4139731e+00f, 1.0540183e+00f, 2.0338957e+00f, 5.0795193e+00f,
    -9.2008724e+00f, 5.3790960e+00f, -5.7557144e+00f, -3.4191513e+00f, 1.9112914e+00f, -1.5220147e+01f, -5.2458186e+00f, 6.0724640e+00f,
};

static const hf_tensor hf_tensors_15[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_15[] =
    "{\"attention_bias\": false, \"head_dim\": 8, \"hidden_act\": \"relu2\", \"hidden_size\": 48, \"intermediate_siz"
    "e\": 40, \"max_position_embeddings\": 64, \"mlp_bias\": false, \"model_type\": \"arcee\", \"num_attention_head"
    "s\": 6, \"num_hidden_layers\": 2, \"num_key_value_heads\": 3, \"rms_norm_eps\": 1e-05, \"rope_parameters\": {"
    "\"rope_theta\": 10000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\": false, \"vocab_size\": 40}";
static const float hf_logits_15[] = {
    -5.9833586e-02f, -1.7906146e+00f, -1.8575869e+00f, 9.0113945e+00f, -5.6221647e+00f, 5.7158160e+00f, 1.9513869e+00f, -2.1005800e+00f,
    1.9306479e+00f, -6.1613911e-01f, 5.5887380e+00f, -1.1887436e+00f, 1.6165609e+00f, 1.9984274e+00f, -2.1620193e+00f, -3.5611389e+00f,
    -1.5572447e-01f, -5.9800873e+00f, -4.6766167e+00f, -3.7007263e+00f, 8.6977110e+00f, 4.6524463e+00f, -3.8072250e+00f, -4.3032231e+00f,
    1.9471712e+00f, 1.2190700e-01f, -1.4968727e+00f, -3.7353506e+00f, 6.1008053e+00f, 2.7313175e+00f, 9.0459881e+00f, -4.3840480e+00f,
    7.3519534e-01f, 5.9762293e-01f, 1.6245542e+00f, 3.8561168e+00f, -2.7494380e-01f, -6.9749227e+00f, -1.5306106e+00f, -3.0026128e+00f,
};

static const hf_tensor hf_tensors_16[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 96}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.bias", {96}, 1, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {96, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {48, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_16[] =
    "{\"attention_bias\": true, \"attention_out_bias\": false, \"head_dim\": 16, \"hidden_act\": \"silu\", \"hidden_"
    "size\": 48, \"intermediate_size\": 40, \"max_position_embeddings\": 64, \"mlp_bias\": false, \"model_type\": "
    "\"seed_oss\", \"num_attention_heads\": 6, \"num_hidden_layers\": 2, \"num_key_value_heads\": 3, \"rms_norm_ep"
    "s\": 1e-06, \"rope_parameters\": {\"rope_theta\": 10000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\""
    ": false, \"vocab_size\": 40}";
static const float hf_logits_16[] = {
    -1.9126265e+00f, -7.8226107e-01f, -1.5929490e+00f, 7.3141580e+00f, -3.7889614e+00f, 4.8976927e+00f, 1.4369709e+00f, -1.8518949e+00f,
    1.9800411e+00f, -1.8312697e+00f, 5.2142882e+00f, -1.8625350e+00f, 2.0045619e+00f, 1.3593287e+00f, -2.8205636e+00f, -4.1580319e+00f,
    -5.0721121e-01f, -4.4542332e+00f, -5.4432793e+00f, -4.3200722e+00f, 6.8712878e+00f, 2.8759704e+00f, -3.6128411e+00f, -4.1594014e+00f,
    3.0254269e+00f, -2.0442803e+00f, -1.5680459e+00f, -4.2767172e+00f, 6.6624503e+00f, 1.5936306e+00f, 7.4457130e+00f, -3.5198293e+00f,
    -3.0893672e-01f, 6.7366773e-01f, 1.5282464e+00f, 1.3268005e+00f, -1.3495383e+00f, -5.1533589e+00f, -9.0870655e-01f, -3.0147281e+00f,
};

static const hf_tensor hf_tensors_17[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.experts.#.down_proj.weight", {48, 24}, 2, 2, 5},
    {"model.layers.#.mlp.experts.#.gate_proj.weight", {24, 48}, 2, 2, 5},
    {"model.layers.#.mlp.experts.#.up_proj.weight", {24, 48}, 2, 2, 5},
    {"model.layers.#.mlp.gate.weight", {5, 48}, 2, 2, 1},
    {"model.layers.#.mlp.shared_expert.down_proj.weight", {48, 32}, 2, 2, 1},
    {"model.layers.#.mlp.shared_expert.gate_proj.weight", {32, 48}, 2, 2, 1},
    {"model.layers.#.mlp.shared_expert.up_proj.weight", {32, 48}, 2, 2, 1},
    {"model.layers.#.mlp.shared_expert_gate.weight", {1, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.bias", {24}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.bias", {24}, 1, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_17[] =
    "{\"decoder_sparse_step\": 1, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_"
    "types\": [\"full_attention\", \"full_attention\"], \"max_position_embeddings\": 64, \"max_window_layers\": 28"
    ", \"mlp_only_layers\": [], \"model_type\": \"qwen2_moe\", \"moe_intermediate_size\": 24, \"norm_topk_prob\": f"
    "alse, \"num_attention_heads\": 6, \"num_experts\": 5, \"num_experts_per_tok\": 3, \"num_hidden_layers\": 2, "
    "\"num_key_value_heads\": 3, \"qkv_bias\": true, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\"rope_theta\":"
    " 10000.0, \"rope_type\": \"default\"}, \"shared_expert_intermediate_size\": 32, \"sliding_window\": 0, \"tie_"
    "word_embeddings\": false, \"use_sliding_window\": false, \"vocab_size\": 40}";
static const float hf_logits_17[] = {
    -7.6790112e-01f, -1.5093936e+00f, -6.7937559e-01f, 8.1251335e+00f, -5.3090014e+00f, 4.2279210e+00f, 2.1296244e+00f, -2.5378141e+00f,
    2.5557554e+00f, -1.4786978e+00f, 6.4392195e+00f, -2.2659581e+00f, 1.5994228e+00f, 1.9790409e+00f, -1.9256876e+00f, -3.2378035e+00f,
    6.9889627e-02f, -6.2231741e+00f, -4.9911256e+00f, -5.0276647e+00f, 7.2304301e+00f, 3.4502110e+00f, -3.2305367e+00f, -3.1863892e+00f,
    2.3303282e+00f, -9.2904788e-01f, -1.6579052e+00f, -3.4977276e+00f, 5.6430440e+00f, 1.1966412e+00f, 8.9341650e+00f, -4.5669289e+00f,
    -5.0835806e-01f, 6.4851320e-01f, 1.5809456e+00f, 2.5928953e+00f, -3.1708488e-01f, -6.6851034e+00f, 1.2993459e-01f, -3.2795119e+00f,
};

static const hf_tensor hf_tensors_18[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.experts.#.down_proj.weight", {48, 40}, 2, 2, 5},
    {"model.layers.#.mlp.experts.#.gate_proj.weight", {40, 48}, 2, 2, 5},
    {"model.layers.#.mlp.experts.#.up_proj.weight", {40, 48}, 2, 2, 5},
    {"model.layers.#.mlp.gate.weight", {5, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_norm.weight", {24}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.q_norm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_18[] =
    "{\"attention_bias\": false, \"clip_qkv\": null, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_s"
    "ize\": 40, \"max_position_embeddings\": 64, \"model_type\": \"olmoe\", \"norm_topk_prob\": false, \"num_attent"
    "ion_heads\": 6, \"num_experts\": 5, \"num_experts_per_tok\": 3, \"num_hidden_layers\": 2, \"num_key_value_he"
    "ads\": 3, \"rms_norm_eps\": 1e-05, \"rope_parameters\": {\"rope_theta\": 10000.0, \"rope_type\": \"default\"}, "
    "\"tie_word_embeddings\": false, \"vocab_size\": 40}";
static const float hf_logits_18[] = {
    -1.3777257e+00f, -9.8758048e-01f, -1.5695150e+00f, 8.8651676e+00f, -5.3822870e+00f, 4.5695963e+00f, 2.0144937e+00f, -2.3817847e+00f,
    1.8088375e+00f, -8.0141866e-01f, 6.8010774e+00f, -1.5658776e+00f, 6.2289292e-01f, 2.2241964e+00f, -2.3580663e+00f, -3.5584052e+00f,
    9.2788798e-01f, -5.9244809e+00f, -4.5297141e+00f, -5.1327443e+00f, 7.5843801e+00f, 4.5641685e+00f, -3.5049717e+00f, -3.9880087e+00f,
    2.3285060e+00f, -2.0797813e+00f, -1.2515725e+00f, -3.5306211e+00f, 5.3859720e+00f, 2.8476754e-01f, 9.7241116e+00f, -5.3239088e+00f,
    -8.3342773e-01f, 1.9921365e-01f, 1.4724971e+00f, 2.8061512e+00f, -4.6859202e-01f, -6.9050245e+00f, -7.9118472e-01f, -4.0259066e+00f,
};

static const hf_tensor hf_tensors_19[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 2, 1},
    {0},
};
static const char hf_config_19[] =
    "{\"attention_bias\": false, \"clip_qkv\": 0.5, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_si"
    "ze\": 40, \"max_position_embeddings\": 64, \"model_type\": \"olmo\", \"num_attention_heads\": 6, \"num_hidden_"
    "layers\": 2, \"num_key_value_heads\": 3, \"rope_parameters\": {\"rope_theta\": 10000.0, \"rope_type\": \"defau"
    "lt\"}, \"tie_word_embeddings\": false, \"vocab_size\": 40}";
static const float hf_logits_19[] = {
    -1.5711173e+00f, -1.1106274e+00f, -2.7588460e+00f, 7.7068543e+00f, -2.8163695e+00f, 5.7122850e+00f, 1.4050807e+00f, -3.4079466e+00f,
    1.0845186e+00f, -1.0156030e-01f, 5.9865932e+00f, -1.2957047e+00f, 2.7339890e+00f, 1.6127884e+00f, -2.6007731e+00f, -3.5844264e+00f,
    -7.9377711e-01f, -4.9639263e+00f, -5.7191987e+00f, -3.4275455e+00f, 8.5611696e+00f, 3.2733774e+00f, -4.5267925e+00f, -2.8978548e+00f,
    7.0700520e-01f, -1.6470180e+00f, -8.5731983e-01f, -3.3444562e+00f, 5.1514268e+00f, 2.6172271e+00f, 9.9780607e+00f, -3.3369732e+00f,
    -1.4218138e+00f, 1.5506223e-01f, 2.7740166e+00f, 2.5452881e+00f, 7.7006531e-01f, -8.0031643e+00f, -4.5548689e-01f, -4.0829182e+00f,
};

static const hf_tensor hf_tensors_20[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.post_feedforward_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_norm.weight", {24}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.q_norm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_20[] =
    "{\"attention_bias\": false, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"max_pos"
    "ition_embeddings\": 64, \"model_type\": \"olmo2\", \"num_attention_heads\": 6, \"num_hidden_layers\": 2, \"num"
    "_key_value_heads\": 3, \"rms_norm_eps\": 1e-05, \"rope_parameters\": {\"rope_theta\": 10000.0, \"rope_type\":"
    " \"default\"}, \"tie_word_embeddings\": false, \"vocab_size\": 40}";
static const float hf_logits_20[] = {
    1.7540928e+00f, -6.0070068e-01f, -3.3266187e+00f, 5.0698411e-01f, -5.6020565e+00f, 4.5863981e+00f, 1.0690849e+01f, 4.5928621e+00f,
    -3.2697341e+00f, -3.8313971e+00f, 5.5164685e+00f, 4.2951646e+00f, 1.3440819e+00f, 6.0089536e+00f, -1.8876952e+00f, 3.0059423e+00f,
    5.8534491e-01f, -3.9994919e-01f, -2.5284722e+00f, -4.8031411e-01f, 2.3964398e+00f, 5.3947988e+00f, -1.6879934e+00f, -1.3999374e+00f,
    -5.2634578e+00f, -6.1016381e-03f, 2.9360085e+00f, 5.8038652e-01f, -7.9848566e+00f, 1.1581918e+00f, 3.3178298e+00f, -5.0648718e+00f,
    -1.2107590e+00f, 3.9940474e+00f, 2.0687408e+00f, 2.6882887e+00f, 4.3136352e-01f, 3.4501548e+00f, -2.6740201e+00f, -5.0905514e+00f,
};

static const hf_tensor hf_tensors_21[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 5, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 5, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 5, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 5, 1},
    {"model.layers.#.post_feedforward_layernorm.weight", {48}, 1, 5, 1},
    {"model.layers.#.self_attn.k_norm.weight", {24}, 1, 5, 1},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 5, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 5, 1},
    {"model.layers.#.self_attn.q_norm.weight", {48}, 1, 5, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 5, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 5, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_21[] =
    "{\"attention_bias\": false, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_t"
    "ypes\": [\"sliding_attention\", \"sliding_attention\", \"sliding_attention\", \"full_attention\", \"sliding_at"
    "tention\"], \"max_position_embeddings\": 64, \"model_type\": \"olmo3\", \"num_attention_heads\": 6, \"num_hidd"
    "en_layers\": 5, \"num_key_value_heads\": 3, \"rms_norm_eps\": 1e-05, \"rope_parameters\": {\"full_attention\""
    ": {\"rope_theta\": 500000.0, \"rope_type\": \"default\"}, \"sliding_attention\": {\"rope_theta\": 500000.0, \"r"
    "ope_type\": \"default\"}}, \"sliding_window\": 7, \"tie_word_embeddings\": false, \"vocab_size\": 40}";
static const float hf_logits_21[] = {
    -3.8504708e-01f, 3.2469752e-01f, 1.6265208e+00f, 1.1694328e+00f, -8.0584602e+00f, 1.3871959e+00f, -1.7439069e+00f, -6.6922742e-01f,
    6.3496470e-02f, -3.0869007e-01f, 5.8421268e+00f, 4.8035267e-01f, 4.2837614e-01f, 1.3821135e+00f, -4.0276880e+00f, -3.1786895e+00f,
    4.4181042e+00f, -6.0034447e+00f, 3.1786203e+00f, -1.2595263e+00f, 4.8696694e+00f, 6.4354789e-01f, -4.7541335e-02f, -3.5138807e+00f,
    2.0845058e+00f, -8.9071493e+00f, 3.4581223e+00f, 2.8215415e+00f, -5.4530621e+00f, 1.0905122e+00f, 5.2622581e+00f, 1.6717905e+00f,
    5.9142962e+00f, -3.0688983e-01f, -1.4345803e+00f, -6.7859521e+00f, -5.9130251e-02f, -4.0714064e+00f, -2.7237889e-01f, 3.2724667e+00f,
};

static const hf_tensor hf_tensors_22[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.post_feedforward_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_norm.weight", {8}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.q_norm.weight", {8}, 1, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_22[] =
    "{\"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_types\": [\"full_attention\","
    " \"full_attention\"], \"max_position_embeddings\": 64, \"model_type\": \"exaone4\", \"num_attention_heads\": 6"
    ", \"num_hidden_layers\": 2, \"num_key_value_heads\": 3, \"rms_norm_eps\": 1e-05, \"rope_parameters\": {\"rope"
    "_theta\": 10000.0, \"rope_type\": \"default\"}, \"sliding_window\": null, \"sliding_window_pattern\": 0, \"tie"
    "_word_embeddings\": false, \"vocab_size\": 40}";
static const float hf_logits_22[] = {
    5.2472472e+00f, -5.6073499e-01f, -2.0909920e+00f, 1.5891659e+00f, -5.4580135e+00f, 1.8693392e+00f, 7.5918303e+00f, 3.1775861e+00f,
    -2.9098492e+00f, -4.8727760e+00f, 4.9605432e-01f, 3.6334662e+00f, -2.7177899e+00f, 7.7132030e+00f, -6.4666243e+00f, 2.2712965e+00f,
    1.0501361e+00f, -1.1295674e+00f, -2.9583619e+00f, 2.2112870e+00f, 3.6963778e+00f, 6.3676157e+00f, 9.6786815e-01f, -4.4709606e+00f,
    -5.6433606e+00f, -1.8650354e-01f, 7.1065240e+00f, 3.1244545e+00f, -6.6186590e+00f, 2.2366784e+00f, -9.5792919e-01f, -5.6480489e+00f,
    5.1193106e-01f, 5.8318696e+00f, 2.8843349e-01f, 3.3479810e+00f, -2.2753870e+00f, 5.9778733e+00f, -4.7367010e+00f, -4.3381782e+00f,
};

static const hf_tensor hf_tensors_23[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.key_layernorm.weight", {16}, 1, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 96}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {96, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.query_layernorm.weight", {16}, 1, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {48, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_23[] =
    "{\"attention_bias\": false, \"head_dim\": 16, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_siz"
    "e\": 40, \"max_position_embeddings\": 64, \"model_type\": \"hunyuan_v1_dense\", \"num_attention_heads\": 6, \""
    "num_hidden_layers\": 2, \"num_key_value_heads\": 3, \"rms_norm_eps\": 1e-05, \"rope_parameters\": {\"alpha\":"
    " 50.0, \"factor\": 1.0, \"rope_theta\": 10000.0, \"rope_type\": \"dynamic\"}, \"tie_word_embeddings\": false, "
    "\"vocab_size\": 40}";
static const float hf_logits_23[] = {
    -1.4560673e+00f, -3.4164539e-01f, -2.1287043e+00f, 6.1830454e+00f, -1.8533323e+00f, 5.3435063e+00f, 9.6390367e-01f, -2.8155878e+00f,
    2.0184104e+00f, -2.1456656e+00f, 5.2447934e+00f, -3.4552739e+00f, 2.0445404e+00f, 1.9245493e+00f, -2.9419253e+00f, -4.4994168e+00f,
    -2.6321769e-01f, -3.6555483e+00f, -6.0652533e+00f, -5.0049634e+00f, 6.7003617e+00f, 2.7566836e+00f, -3.2764950e+00f, -2.8108850e+00f,
    3.5299819e+00f, -1.5977937e+00f, -2.2335193e+00f, -3.2256784e+00f, 6.5013952e+00f, 1.4120047e+00f, 7.7990255e+00f, -2.5649924e+00f,
    -9.3120319e-01f, 4.8335704e-01f, 2.0374110e+00f, 1.5577170e+00f, -1.4996561e-01f, -6.2264881e+00f, -4.5608580e-02f, -3.1360247e+00f,
};

static const hf_tensor hf_tensors_24[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_up_proj.weight", {80, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.post_mlp_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.post_self_attn_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 96}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.bias", {96}, 1, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {96, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {48, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_24[] =
    "{\"attention_bias\": true, \"head_dim\": 16, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size"
    "\": 40, \"max_position_embeddings\": 64, \"model_type\": \"glm4\", \"num_attention_heads\": 6, \"num_hidden_la"
    "yers\": 2, \"num_key_value_heads\": 3, \"rms_norm_eps\": 1.5625e-07, \"rope_parameters\": {\"partial_rotary_"
    "factor\": 0.5, \"rope_theta\": 10000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\": false, \"vocab_s"
    "ize\": 40}";
static const float hf_logits_24[] = {
    -8.3529501e+00f, 4.9641852e+00f, -3.9923707e-01f, -2.0277712e+00f, 1.1378270e-01f, -8.2546756e-02f, 5.1351528e+00f, 2.7573206e+00f,
    -3.6400299e+00f, -3.2334783e+00f, 5.3576651e+00f, 2.0889843e+00f, 2.9438084e-01f, -5.0080876e+00f, -1.6153016e+00f, 1.4252635e+00f,
    -3.1363571e+00f, -1.2056500e+00f, -1.4243342e+00f, -3.5578454e+00f, -2.7587266e+00f, -1.3171477e+00f, -9.4454041e+00f, -3.5211515e+00f,
    -4.7788185e-01f, -4.5851188e+00f, -2.9732747e+00f, -2.9669206e+00f, 6.1149917e+00f, 2.7096238e+00f, -3.4360380e+00f, -2.5885642e+00f,
    -2.8054950e+00f, 1.1037259e+00f, -3.0273858e-01f, 2.8755126e+00f, -6.2818065e+00f, 3.9585090e+00f, 2.7274147e-01f, 9.9348390e-01f,
};

static const hf_tensor hf_tensors_25[] = {
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.k_norm.weight", {3, 8}, 2, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.q_norm.weight", {6, 8}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_25[] =
    "{\"attention_bias\": false, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_n"
    "orm_eps\": 1e-05, \"logit_scale\": 0.5, \"max_position_embeddings\": 64, \"model_type\": \"cohere\", \"num_att"
    "ention_heads\": 6, \"num_hidden_layers\": 2, \"num_key_value_heads\": 3, \"rope_parameters\": {\"rope_theta\""
    ": 500000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\": true, \"use_qk_norm\": true, \"vocab_size\":"
    " 40}";
static const float hf_logits_25[] = {
    1.2996066e+00f, 1.4143440e+01f, -1.4039721e+00f, 6.2560338e-01f, -1.3888745e+00f, -5.0304592e-01f, 8.0940105e-02f, 1.8199495e+00f,
    2.4489339e-02f, 2.5656562e+00f, -1.7735549e+00f, 3.4395000e-01f, 7.5076818e-01f, -2.2510190e+00f, -1.0393077e+00f, 1.0130733e+00f,
    -1.0704631e+00f, -1.1923162e+00f, 3.1258199e-01f, 3.4696815e+00f, -1.6105509e+00f, 7.6761916e-02f, 3.5346777e+00f, 6.9025934e-01f,
    4.2771593e-01f, 3.1177328e+00f, 1.5148471e-01f, 2.0104852e+00f, -9.2330590e-02f, -1.8393567e-01f, 7.5233412e-01f, 9.0775836e-01f,
    -1.5725892e+00f, 1.6100611e-01f, -2.7486846e+00f, -1.5907570e+00f, 9.2268080e-01f, -2.1402724e+00f, -2.1984148e+00f, 1.0288904e+00f,
};

static const hf_tensor hf_tensors_26[] = {
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 5, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 5, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 5, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 5, 1},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 5, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 5, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 5, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 5, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_26[] =
    "{\"attention_bias\": false, \"head_dim\": 8, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size"
    "\": 40, \"layer_norm_eps\": 1e-05, \"layer_types\": [\"sliding_attention\", \"sliding_attention\", \"sliding_a"
    "ttention\", \"full_attention\", \"sliding_attention\"], \"logit_scale\": 0.5, \"max_position_embeddings\": 64"
    ", \"model_type\": \"cohere2\", \"num_attention_heads\": 6, \"num_hidden_layers\": 5, \"num_key_value_heads\": "
    "3, \"rope_parameters\": {\"rope_theta\": 10000.0, \"rope_type\": \"default\"}, \"sliding_window\": 7, \"tie_wor"
    "d_embeddings\": true, \"vocab_size\": 40}";
static const float hf_logits_26[] = {
    1.1512922e+00f, 1.3455192e+01f, -1.2885642e+00f, 8.6120027e-01f, -7.4253011e-01f, -3.8104481e-01f, -8.3156943e-02f, 9.5599228e-01f,
    2.4127953e-01f, 1.4855120e+00f, -2.5669977e-01f, 1.0782388e+00f, 5.7423455e-01f, -2.4618063e+00f, -1.3597828e+00f, -3.9688426e-01f,
    -7.6361984e-01f, -1.2001234e+00f, 1.0146823e+00f, 2.0345733e+00f, -2.0511022e+00f, 2.4195868e-01f, 4.0720820e+00f, -8.3214605e-01f,
    7.8915879e-02f, 2.8783832e+00f, 6.7767900e-01f, 1.5444129e+00f, 3.8827592e-01f, 4.8398381e-01f, 6.3115507e-01f, 2.1740735e-01f,
    -1.4580668e+00f, 9.0000403e-01f, -1.6086040e+00f, -1.8493817e+00f, 2.8942049e-01f, -1.3536729e+00f, -3.1916287e+00f, 9.9753463e-01f,
};

static const hf_tensor hf_tensors_27[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.bias", {48}, 1, 2, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.bias", {48}, 1, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 2, 1},
    {"model.norm.bias", {48}, 1, 1, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_27[] =
    "{\"attention_bias\": false, \"head_dim\": 8, \"hidden_act\": \"relu2\", \"hidden_size\": 48, \"intermediate_siz"
    "e\": 40, \"max_position_embeddings\": 64, \"mlp_bias\": false, \"model_type\": \"nemotron\", \"norm_eps\": 1e-0"
    "5, \"num_attention_heads\": 6, \"num_hidden_layers\": 2, \"num_key_value_heads\": 3, \"rope_parameters\": {\""
    "partial_rotary_factor\": 0.5, \"rope_theta\": 10000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\": "
    "false, \"vocab_size\": 40}";
static const float hf_logits_27[] = {
    8.4257154e+00f, -8.0572176e+00f, -9.3351536e+00f, 1.9417881e+01f, -1.3302837e+01f, 1.4693663e+01f, 9.8095570e+00f, -3.3918159e+00f,
    3.0005133e+00f, -3.1756337e+00f, 4.0999117e+00f, -6.0588115e-01f, 4.1153173e+00f, 5.7429538e+00f, 7.9459533e-02f, -4.9809284e+00f,
    -4.2478981e+00f, -1.3873964e+01f, -6.9943705e+00f, -7.4141302e+00f, 1.7057810e+01f, 1.1760567e+01f, -3.5345793e+00f, -1.2123890e+01f,
    -2.1244783e+00f, 7.3535028e+00f, -2.2645936e+00f, -8.0783033e+00f, 1.0125636e+01f, 9.9902248e+00f, 1.2638344e+01f, -1.3754822e+01f,
    2.3109462e+00f, 8.4494466e-01f, 7.3246131e+00f, 1.7966608e+01f, 4.2715416e+00f, -1.3025201e+01f, -1.2432958e+01f, -4.1641917e+00f,
};

static const hf_tensor hf_tensors_28[] = {
    {"lm_head.bias", {40}, 1, 1, 1},
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.final_layernorm.bias", {48}, 1, 1, 1},
    {"model.final_layernorm.weight", {48}, 1, 1, 1},
    {"model.layers.#.input_layernorm.bias", {48}, 1, 2, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.fc1.bias", {40}, 1, 2, 1},
    {"model.layers.#.mlp.fc1.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.fc2.bias", {48}, 1, 2, 1},
    {"model.layers.#.mlp.fc2.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.self_attn.dense.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.dense.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.k_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {48, 48}, 2, 2, 1},
    {0},
};
static const char hf_config_28[] =
    "{\"hidden_act\": \"gelu_new\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_norm_eps\": 1e-05, \"max"
    "_position_embeddings\": 64, \"model_type\": \"phi\", \"num_attention_heads\": 6, \"num_hidden_layers\": 2, \"n"
    "um_key_value_heads\": 6, \"qk_layernorm\": false, \"rope_parameters\": {\"partial_rotary_factor\": 0.5, \"ro"
    "pe_theta\": 10000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\": false, \"vocab_size\": 40}";
static const float hf_logits_28[] = {
    -6.4586902e-01f, -3.0805383e+00f, -2.2820373e+00f, 5.2980843e+00f, -3.9044299e+00f, 5.2109084e+00f, 3.2023046e+00f, -2.3851223e+00f,
    1.9471960e-01f, -2.6643648e+00f, 4.5024395e+00f, -8.4106827e-01f, 1.7569280e+00f, -1.0823768e+00f, -2.3686893e+00f, -2.4765897e+00f,
    -1.4927649e+00f, -6.3812981e+00f, -5.2385206e+00f, -3.9379559e+00f, 3.4893219e+00f, 9.1136515e-01f, -1.6146859e+00f, -5.0827746e+00f,
    2.8884828e-02f, -1.3868198e+00f, -2.6003926e+00f, -9.3081868e-01f, 4.5619259e+00f, 2.8445890e+00f, 1.0536156e+01f, -2.4320993e+00f,
    -7.9836988e-01f, -4.3498838e-01f, 1.1715207e+00f, 3.0474427e+00f, 1.6656557e+00f, -6.8027906e+00f, 1.7008469e+00f, -4.8615155e+00f,
};

static const hf_tensor hf_tensors_29[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.bias", {48}, 1, 2, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.k_layernorm.norms.#.weight", {8}, 1, 2, 3},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.q_layernorm.norms.#.weight", {8}, 1, 2, 6},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 2, 1},
    {"model.norm.bias", {48}, 1, 1, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_29[] =
    "{\"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_norm_eps\": 1e-05, \"max_pos"
    "ition_embeddings\": 64, \"model_type\": \"stablelm\", \"num_attention_heads\": 6, \"num_hidden_layers\": 2, \""
    "num_key_value_heads\": 3, \"qk_layernorm\": true, \"rope_parameters\": {\"partial_rotary_factor\": 0.5, \"ro"
    "pe_theta\": 10000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\": false, \"use_parallel_residual\": "
    "true, \"use_qkv_bias\": false, \"vocab_size\": 40}";
static const float hf_logits_29[] = {
    -4.5648512e-01f, -2.8066468e+00f, -2.5115952e+00f, 8.0233002e+00f, -3.7221034e+00f, 6.3027854e+00f, 1.9481056e+00f, -8.5485888e-01f,
    1.1994936e+00f, -1.8513495e+00f, 7.0542212e+00f, -2.9171178e+00f, 1.5188890e+00f, 3.2232454e+00f, -4.2874441e+00f, -4.4480515e+00f,
    -9.3612665e-01f, -6.9711280e+00f, -5.4784546e+00f, -2.8768311e+00f, 9.0275335e+00f, 2.9301181e+00f, -3.6580505e+00f, -4.4257884e+00f,
    8.1041241e-01f, -1.7351683e+00f, -1.8222903e-01f, -2.0614009e+00f, 5.6545138e+00f, 2.6619558e+00f, 8.1725655e+00f, -4.1151643e+00f,
    -1.8602475e+00f, 5.5442822e-01f, 2.3808231e+00f, 2.9227128e+00f, -9.3223530e-01f, -7.0926762e+00f, -6.4414382e-01f, -3.2863133e+00f,
};

static const hf_tensor hf_tensors_30[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.bias", {48}, 1, 2, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.bias", {48}, 1, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.bias", {24}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.bias", {24}, 1, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 2, 1},
    {"model.norm.bias", {48}, 1, 1, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_30[] =
    "{\"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_norm_eps\": 1e-05, \"max_pos"
    "ition_embeddings\": 64, \"model_type\": \"stablelm\", \"num_attention_heads\": 6, \"num_hidden_layers\": 2, \""
    "num_key_value_heads\": 3, \"qk_layernorm\": false, \"rope_parameters\": {\"partial_rotary_factor\": 0.25, \""
    "rope_theta\": 10000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\": false, \"use_parallel_residual\""
    ": false, \"use_qkv_bias\": true, \"vocab_size\": 40}";
static const float hf_logits_30[] = {
    1.5045568e-01f, -3.2878580e+00f, -2.1573520e+00f, 7.4962091e+00f, -3.8591099e+00f, 6.4746084e+00f, 1.7860831e+00f, -1.8277942e+00f,
    1.8375041e+00f, -1.8530958e+00f, 6.4567280e+00f, -2.8723662e+00f, 1.3358525e+00f, 2.5118127e+00f, -3.9444947e+00f, -4.2469988e+00f,
    -9.9812394e-01f, -7.3810563e+00f, -5.7450361e+00f, -2.8600359e+00f, 8.5126247e+00f, 2.6483088e+00f, -3.5998645e+00f, -3.4591689e+00f,
    1.4493870e+00f, -1.9478606e+00f, -7.1800214e-01f, -1.6315132e+00f, 5.2285638e+00f, 1.8824387e+00f, 8.3774147e+00f, -4.3359909e+00f,
    -1.2189993e+00f, 3.9314353e-01f, 2.1948466e+00f, 2.5739632e+00f, -1.2237027e-01f, -7.0790968e+00f, 5.3328365e-02f, -3.4457810e+00f,
};

static const hf_tensor hf_tensors_31[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.bias", {48}, 1, 2, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.c_fc.bias", {40}, 1, 2, 1},
    {"model.layers.#.mlp.c_fc.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.c_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.mlp.c_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.bias", {48}, 1, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.bias", {24}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.bias", {24}, 1, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 2, 1},
    {"model.norm.bias", {48}, 1, 1, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_31[] =
    "{\"hidden_act\": \"gelu_pytorch_tanh\", \"hidden_size\": 48, \"intermediate_size\": 40, \"max_position_embedd"
    "ings\": 64, \"model_type\": \"starcoder2\", \"norm_epsilon\": 1e-05, \"num_attention_heads\": 6, \"num_hidden_"
    "layers\": 2, \"num_key_value_heads\": 3, \"rope_parameters\": {\"rope_theta\": 10000.0, \"rope_type\": \"defau"
    "lt\"}, \"sliding_window\": 7, \"tie_word_embeddings\": false, \"use_bias\": true, \"vocab_size\": 40}";
static const float hf_logits_31[] = {
    -1.9178461e+00f, -2.9953220e+00f, -1.3374579e+00f, 6.8894715e+00f, -4.3729548e+00f, 4.3994622e+00f, 1.1252813e+00f, -3.0495436e+00f,
    3.1106770e+00f, 1.0684035e+00f, 6.5969968e+00f, -3.6166880e+00f, -2.1401107e+00f, 1.4525384e+00f, -1.7113096e+00f, -3.8881018e+00f,
    3.4159911e-01f, -7.3514585e+00f, -4.4646063e+00f, -4.5459700e+00f, 8.1836128e+00f, 7.4719799e-01f, -3.9178166e+00f, 1.5456213e+00f,
    3.5400283e+00f, -3.1381521e+00f, -3.5396659e+00f, 6.5222585e-01f, 4.9021506e+00f, 2.4454651e+00f, 9.8740568e+00f, -4.7305446e+00f,
    6.7751002e-01f, -2.8490260e+00f, 2.0593462e+00f, -1.3545586e+00f, 2.1796310e+00f, -9.4498520e+00f, 1.0106903e+00f, -5.2284555e+00f,
};

static const hf_tensor hf_tensors_32[] = {
    {"transformer.h.#.attn.c_attn.bias", {144}, 1, 2, 1},
    {"transformer.h.#.attn.c_attn.weight", {48, 144}, 2, 2, 1},
    {"transformer.h.#.attn.c_proj.bias", {48}, 1, 2, 1},
    {"transformer.h.#.attn.c_proj.weight", {48, 48}, 2, 2, 1},
    {"transformer.h.#.ln_1.bias", {48}, 1, 2, 1},
    {"transformer.h.#.ln_1.weight", {48}, 1, 2, 1},
    {"transformer.h.#.ln_2.bias", {48}, 1, 2, 1},
    {"transformer.h.#.ln_2.weight", {48}, 1, 2, 1},
    {"transformer.h.#.mlp.c_fc.bias", {192}, 1, 2, 1},
    {"transformer.h.#.mlp.c_fc.weight", {48, 192}, 2, 2, 1},
    {"transformer.h.#.mlp.c_proj.bias", {48}, 1, 2, 1},
    {"transformer.h.#.mlp.c_proj.weight", {192, 48}, 2, 2, 1},
    {"transformer.ln_f.bias", {48}, 1, 1, 1},
    {"transformer.ln_f.weight", {48}, 1, 1, 1},
    {"transformer.wpe.weight", {64, 48}, 2, 1, 1},
    {"transformer.wte.weight", {40, 48}, 2, 1, 1},
    {0},
};
static const char hf_config_32[] =
    "{\"activation_function\": \"gelu_new\", \"layer_norm_epsilon\": 1e-05, \"model_type\": \"gpt2\", \"n_embd\": 48,"
    " \"n_head\": 3, \"n_inner\": null, \"n_layer\": 2, \"n_positions\": 64, \"reorder_and_upcast_attn\": false, \"s"
    "cale_attn_by_inverse_layer_idx\": false, \"scale_attn_weights\": true, \"tie_word_embeddings\": true, \"vo"
    "cab_size\": 40}";
static const float hf_logits_32[] = {
    2.6645035e-01f, 1.0003763e+01f, -1.9743592e+00f, -3.4067185e+00f, -2.8639405e+00f, 8.6401176e+00f, -5.6968780e+00f, -1.6918130e+00f,
    -4.9075322e+00f, -4.9928737e+00f, 3.8985479e+00f, -2.2611239e+00f, -6.9599423e+00f, -5.2811370e+00f, 2.4908166e+00f, -3.4148216e+00f,
    -4.2641754e+00f, -3.2291174e+00f, -3.1483686e+00f, 3.6190019e+00f, -1.9461980e+00f, -1.7305923e+00f, -7.8328123e+00f, -2.7477124e+00f,
    -2.2421188e+00f, 4.4523702e+00f, 6.1172419e+00f, 3.3547571e+00f, 1.4846851e+00f, 4.7167940e+00f, 6.4187198e+00f, -3.9866867e+00f,
    -4.3252382e+00f, -1.6158427e+00f, 6.6486472e-01f, 9.1594677e+00f, 7.9387027e-01f, 4.8423076e+00f, -3.9248095e+00f, -1.1417149e+00f,
};

static const hf_tensor hf_tensors_33[] = {
    {"transformer.h.#.attn.c_attn.bias", {80}, 1, 2, 1},
    {"transformer.h.#.attn.c_attn.weight", {80, 48}, 2, 2, 1},
    {"transformer.h.#.attn.c_proj.bias", {48}, 1, 2, 1},
    {"transformer.h.#.attn.c_proj.weight", {48, 48}, 2, 2, 1},
    {"transformer.h.#.ln_1.bias", {48}, 1, 2, 1},
    {"transformer.h.#.ln_1.weight", {48}, 1, 2, 1},
    {"transformer.h.#.ln_2.bias", {48}, 1, 2, 1},
    {"transformer.h.#.ln_2.weight", {48}, 1, 2, 1},
    {"transformer.h.#.mlp.c_fc.bias", {192}, 1, 2, 1},
    {"transformer.h.#.mlp.c_fc.weight", {192, 48}, 2, 2, 1},
    {"transformer.h.#.mlp.c_proj.bias", {48}, 1, 2, 1},
    {"transformer.h.#.mlp.c_proj.weight", {48, 192}, 2, 2, 1},
    {"transformer.ln_f.bias", {48}, 1, 1, 1},
    {"transformer.ln_f.weight", {48}, 1, 1, 1},
    {"transformer.wpe.weight", {64, 48}, 2, 1, 1},
    {"transformer.wte.weight", {40, 48}, 2, 1, 1},
    {0},
};
static const char hf_config_33[] =
    "{\"activation_function\": \"gelu_pytorch_tanh\", \"attention_softmax_in_fp32\": true, \"layer_norm_epsilon\""
    ": 1e-05, \"model_type\": \"gpt_bigcode\", \"multi_query\": true, \"n_embd\": 48, \"n_head\": 3, \"n_inner\": nul"
    "l, \"n_layer\": 2, \"n_positions\": 64, \"num_key_value_heads\": 1, \"scale_attention_softmax_in_fp32\": tru"
    "e, \"scale_attn_weights\": true, \"tie_word_embeddings\": true, \"vocab_size\": 40}";
static const float hf_logits_33[] = {
    -2.8242180e+00f, 1.3990541e+01f, -4.9122138e+00f, -3.0232306e+00f, 1.4727528e+00f, 6.0292802e+00f, -9.5013922e-01f, 2.2716274e+00f,
    -6.3440213e+00f, 5.4588068e-01f, 1.7168448e+00f, 4.1068479e-01f, -4.6857185e+00f, -8.3717566e+00f, 2.1086600e+00f, 2.2414839e-01f,
    -1.2529929e+00f, -3.3834383e+00f, -6.0458961e+00f, 1.5579680e+00f, 2.0653718e+00f, -3.8395078e+00f, -7.3790703e+00f, -1.4242719e+00f,
    1.1076274e+00f, 3.3346193e+00f, 3.0854690e+00f, 6.1080331e-01f, -2.5270374e+00f, 8.0987370e-01f, 5.0602360e+00f, -3.1017890e+00f,
    -9.1331470e-01f, 3.4637532e-01f, -8.6900455e-01f, 4.6558275e+00f, -5.1773250e-01f, 4.2165089e+00f, -3.6192176e+00f, 6.4099307e+00f,
};

static const hf_tensor hf_tensors_34[] = {
    {"transformer.h.#.input_layernorm.bias", {48}, 1, 2, 1},
    {"transformer.h.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"transformer.h.#.mlp.dense_4h_to_h.bias", {48}, 1, 2, 1},
    {"transformer.h.#.mlp.dense_4h_to_h.weight", {48, 192}, 2, 2, 1},
    {"transformer.h.#.mlp.dense_h_to_4h.bias", {192}, 1, 2, 1},
    {"transformer.h.#.mlp.dense_h_to_4h.weight", {192, 48}, 2, 2, 1},
    {"transformer.h.#.post_attention_layernorm.bias", {48}, 1, 2, 1},
    {"transformer.h.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"transformer.h.#.self_attention.dense.bias", {48}, 1, 2, 1},
    {"transformer.h.#.self_attention.dense.weight", {48, 48}, 2, 2, 1},
    {"transformer.h.#.self_attention.query_key_value.bias", {144}, 1, 2, 1},
    {"transformer.h.#.self_attention.query_key_value.weight", {144, 48}, 2, 2, 1},
    {"transformer.ln_f.bias", {48}, 1, 1, 1},
    {"transformer.ln_f.weight", {48}, 1, 1, 1},
    {"transformer.word_embeddings.weight", {40, 48}, 2, 1, 1},
    {"transformer.word_embeddings_layernorm.bias", {48}, 1, 1, 1},
    {"transformer.word_embeddings_layernorm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_34[] =
    "{\"apply_residual_connection_post_layernorm\": false, \"hidden_size\": 48, \"layer_norm_epsilon\": 1e-05, "
    "\"model_type\": \"bloom\", \"n_head\": 6, \"n_layer\": 2, \"slow_but_exact\": false, \"tie_word_embeddings\": tr"
    "ue, \"vocab_size\": 40}";
static const float hf_logits_34[] = {
    -2.3036451e+00f, 2.1749517e+01f, -4.4276252e+00f, 9.1733915e-01f, -1.0696644e+00f, -1.4301587e+00f, 4.8162284e+00f, 2.5624237e+00f,
    1.9596437e+00f, 5.9637985e+00f, 1.0479933e+00f, 2.8165929e+00f, 2.9766121e+00f, 5.5194249e+00f, -2.8034697e+00f, 8.8197660e+00f,
    -6.5798059e-02f, 2.1746075e+00f, 2.6809995e+00f, 3.8479891e+00f, -4.2321587e+00f, 6.7474204e-01f, -3.2124772e+00f, -1.7543468e+00f,
    5.7865977e+00f, -6.9045491e+00f, 9.2837900e-01f, 2.3301957e+00f, 4.7477216e-01f, 3.9594939e+00f, -4.0368729e+00f, 4.3766956e+00f,
    2.5885761e+00f, -5.5856490e+00f, 1.0402653e+00f, 1.8643768e-01f, 6.1400404e+00f, 1.3857429e+00f, -1.5976067e+00f, -4.1415219e+00f,
};

static const hf_tensor hf_tensors_35[] = {
    {"embed_out.weight", {40, 48}, 2, 1, 1},
    {"gpt_neox.embed_in.weight", {40, 48}, 2, 1, 1},
    {"gpt_neox.final_layer_norm.bias", {48}, 1, 1, 1},
    {"gpt_neox.final_layer_norm.weight", {48}, 1, 1, 1},
    {"gpt_neox.layers.#.attention.dense.bias", {48}, 1, 2, 1},
    {"gpt_neox.layers.#.attention.dense.weight", {48, 48}, 2, 2, 1},
    {"gpt_neox.layers.#.attention.query_key_value.bias", {144}, 1, 2, 1},
    {"gpt_neox.layers.#.attention.query_key_value.weight", {144, 48}, 2, 2, 1},
    {"gpt_neox.layers.#.input_layernorm.bias", {48}, 1, 2, 1},
    {"gpt_neox.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"gpt_neox.layers.#.mlp.dense_4h_to_h.bias", {48}, 1, 2, 1},
    {"gpt_neox.layers.#.mlp.dense_4h_to_h.weight", {48, 40}, 2, 2, 1},
    {"gpt_neox.layers.#.mlp.dense_h_to_4h.bias", {40}, 1, 2, 1},
    {"gpt_neox.layers.#.mlp.dense_h_to_4h.weight", {40, 48}, 2, 2, 1},
    {"gpt_neox.layers.#.post_attention_layernorm.bias", {48}, 1, 2, 1},
    {"gpt_neox.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {0},
};
static const char hf_config_35[] =
    "{\"attention_bias\": true, \"hidden_act\": \"gelu_new\", \"hidden_size\": 48, \"intermediate_size\": 40, \"laye"
    "r_norm_eps\": 1e-05, \"max_position_embeddings\": 64, \"model_type\": \"gpt_neox\", \"num_attention_heads\": "
    "6, \"num_hidden_layers\": 2, \"rope_parameters\": {\"partial_rotary_factor\": 0.25, \"rope_theta\": 10000.0,"
    " \"rope_type\": \"default\"}, \"tie_word_embeddings\": false, \"use_parallel_residual\": true, \"vocab_size\":"
    " 40}";
static const float hf_logits_35[] = {
    8.0988817e+00f, 8.4387189e-01f, 2.9539113e+00f, 9.2031708e+00f, 4.4698942e-01f, 3.1491113e+00f, 2.2978041e-01f, -5.6642547e+00f,
    -1.1042869e+00f, -1.1700136e+01f, -8.7021275e+00f, 3.3735998e+00f, 5.2356000e+00f, -6.4330578e+00f, -8.0039924e-01f, 4.3225541e+00f,
    5.4082580e+00f, -3.2301047e+00f, 5.1812019e+00f, 4.9143651e-01f, 7.6415330e-01f, 2.3810401e+00f, 9.2932920e+00f, -5.3976173e+00f,
    -1.0648514e+00f, 1.8057220e+00f, 1.3438692e+00f, 7.3502934e-01f, 8.4799534e-01f, -2.9415505e+00f, -2.6872611e+00f, -1.8076017e+00f,
    1.6776612e+00f, -4.9004207e+00f, -3.4687545e+00f, 2.1281447e-02f, -3.3465366e+00f, 4.2259402e+00f, -1.8093106e+00f, -2.4803448e+00f,
};

static const hf_tensor hf_tensors_36[] = {
    {"transformer.h.#.input_layernorm.bias", {48}, 1, 2, 1},
    {"transformer.h.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"transformer.h.#.mlp.dense_4h_to_h.weight", {48, 192}, 2, 2, 1},
    {"transformer.h.#.mlp.dense_h_to_4h.weight", {192, 48}, 2, 2, 1},
    {"transformer.h.#.self_attention.dense.weight", {48, 48}, 2, 2, 1},
    {"transformer.h.#.self_attention.query_key_value.weight", {64, 48}, 2, 2, 1},
    {"transformer.ln_f.bias", {48}, 1, 1, 1},
    {"transformer.ln_f.weight", {48}, 1, 1, 1},
    {"transformer.word_embeddings.weight", {40, 48}, 2, 1, 1},
    {0},
};
static const char hf_config_36[] =
    "{\"activation\": \"gelu_pytorch_tanh\", \"alibi\": false, \"bias\": false, \"ffn_hidden_size\": 192, \"hidden_s"
    "ize\": 48, \"layer_norm_epsilon\": 1e-05, \"max_position_embeddings\": 2048, \"model_type\": \"falcon\", \"mul"
    "ti_query\": true, \"new_decoder_architecture\": false, \"num_attention_heads\": 6, \"num_hidden_layers\": 2"
    ", \"num_kv_heads\": 6, \"num_ln_in_parallel_attn\": null, \"parallel_attn\": true, \"rope_parameters\": {\"ro"
    "pe_theta\": 10000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\": true, \"vocab_size\": 40}";
static const float hf_logits_36[] = {
    -3.1228018e+00f, 2.2073206e+01f, -4.3904057e+00f, -3.2514238e+00f, -5.3445035e-01f, -2.2926099e+00f, 4.5918937e+00f, 5.6147580e+00f,
    1.5806288e-01f, 3.9856896e+00f, 2.1587541e+00f, 4.7090735e+00f, 1.2409112e+00f, 9.5044279e+00f, -4.2236104e+00f, 7.9976077e+00f,
    -4.0859398e-01f, 1.7256209e+00f, 4.1267829e+00f, 2.8373857e+00f, -3.7962070e+00f, 9.2186433e-01f, -1.5725101e+00f, -1.7866838e+00f,
    2.5106118e+00f, -8.0756092e+00f, -2.0922375e+00f, -6.9958991e-01f, -3.8762024e-01f, 2.7511578e+00f, -4.2781153e+00f, 4.9978304e+00f,
    5.2993536e+00f, -4.8410892e+00f, -5.6777840e+00f, 2.8550007e+00f, 4.3597894e+00f, 4.3437138e-01f, -5.5639329e+00f, -4.3160276e+00f,
};

static const hf_tensor hf_tensors_37[] = {
    {"transformer.h.#.ln_attn.bias", {48}, 1, 2, 1},
    {"transformer.h.#.ln_attn.weight", {48}, 1, 2, 1},
    {"transformer.h.#.ln_mlp.bias", {48}, 1, 2, 1},
    {"transformer.h.#.ln_mlp.weight", {48}, 1, 2, 1},
    {"transformer.h.#.mlp.dense_4h_to_h.weight", {48, 192}, 2, 2, 1},
    {"transformer.h.#.mlp.dense_h_to_4h.weight", {192, 48}, 2, 2, 1},
    {"transformer.h.#.self_attention.dense.weight", {48, 48}, 2, 2, 1},
    {"transformer.h.#.self_attention.query_key_value.weight", {96, 48}, 2, 2, 1},
    {"transformer.ln_f.bias", {48}, 1, 1, 1},
    {"transformer.ln_f.weight", {48}, 1, 1, 1},
    {"transformer.word_embeddings.weight", {40, 48}, 2, 1, 1},
    {0},
};
static const char hf_config_37[] =
    "{\"activation\": \"gelu_pytorch_tanh\", \"alibi\": false, \"bias\": false, \"ffn_hidden_size\": 192, \"hidden_s"
    "ize\": 48, \"layer_norm_epsilon\": 1e-05, \"max_position_embeddings\": 2048, \"model_type\": \"falcon\", \"mul"
    "ti_query\": true, \"new_decoder_architecture\": true, \"num_attention_heads\": 6, \"num_hidden_layers\": 2,"
    " \"num_kv_heads\": 3, \"num_ln_in_parallel_attn\": 2, \"parallel_attn\": true, \"rope_parameters\": {\"rope_t"
    "heta\": 10000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\": true, \"vocab_size\": 40}";
static const float hf_logits_37[] = {
    -2.5928974e+00f, 2.2308384e+01f, -5.5660543e+00f, -4.2566991e+00f, -1.3564475e-01f, -2.5009279e+00f, 4.0448055e+00f, 4.7438083e+00f,
    1.0714066e+00f, 5.2417507e+00f, 1.3454980e+00f, 4.2900400e+00f, 1.9476520e+00f, 9.6701374e+00f, -4.7502337e+00f, 7.3248348e+00f,
    -1.7305683e+00f, 2.3567677e+00f, 5.1720634e+00f, 2.9273653e+00f, -3.8581095e+00f, 1.7686851e+00f, -6.0395747e-01f, -1.4446684e+00f,
    2.5442209e+00f, -7.5110369e+00f, -3.2469847e+00f, -9.8496860e-01f, -1.9163332e+00f, 3.4377952e+00f, -4.7838464e+00f, 3.9575007e+00f,
    6.2791982e+00f, -4.8628297e+00f, -4.5164218e+00f, 2.0833666e+00f, 5.6125374e+00f, -7.9227841e-01f, -5.0146093e+00f, -4.5042338e+00f,
};

static const hf_tensor hf_tensors_38[] = {
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.embedding_norm.weight", {48}, 1, 1, 1},
    {"model.layers.#.feed_forward.w1.weight", {32, 48}, 2, 3, 1},
    {"model.layers.#.feed_forward.w2.weight", {48, 32}, 2, 3, 1},
    {"model.layers.#.feed_forward.w3.weight", {32, 48}, 2, 3, 1},
    {"model.layers.#.ffn_norm.weight", {48}, 1, 3, 1},
    {"model.layers.#.operator_norm.weight", {48}, 1, 3, 1},
    {"model.layers.0.conv.conv.weight", {48, 1, 3}, 3, 1, 1},
    {"model.layers.0.conv.in_proj.weight", {144, 48}, 2, 1, 1},
    {"model.layers.0.conv.out_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.k_layernorm.weight", {8}, 1, 1, 1},
    {"model.layers.1.self_attn.k_proj.weight", {24, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.out_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.q_layernorm.weight", {8}, 1, 1, 1},
    {"model.layers.1.self_attn.q_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.v_proj.weight", {24, 48}, 2, 1, 1},
    {"model.layers.2.conv.conv.weight", {48, 1, 3}, 3, 1, 1},
    {"model.layers.2.conv.in_proj.weight", {144, 48}, 2, 1, 1},
    {"model.layers.2.conv.out_proj.weight", {48, 48}, 2, 1, 1},
    {0},
};
static const char hf_config_38[] =
    "{\"block_auto_adjust_ff_dim\": true, \"block_ffn_dim_multiplier\": 1.0, \"block_multiple_of\": 8, \"conv_L_"
    "cache\": 3, \"conv_bias\": false, \"full_attn_idxs\": null, \"hidden_size\": 48, \"intermediate_size\": 40, \""
    "layer_types\": [\"conv\", \"full_attention\", \"conv\"], \"max_position_embeddings\": 64, \"model_type\": \"lfm2"
    "\", \"norm_eps\": 1e-05, \"num_attention_heads\": 6, \"num_hidden_layers\": 3, \"num_key_value_heads\": 3, \"r"
    "ope_parameters\": {\"rope_theta\": 1000000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\": true, \"vo"
    "cab_size\": 40}";
static const float hf_logits_38[] = {
    2.7310681e+00f, 2.9138859e+01f, -3.6685150e+00f, -3.5280225e-01f, -2.9188499e+00f, 1.0024779e+00f, -1.4100083e+00f, 3.1005020e+00f,
    -9.2411762e-01f, 5.9456911e+00f, -2.7417023e+00f, 2.7916521e-01f, 1.8787709e+00f, -4.3492255e+00f, -1.3383669e+00f, 2.2170252e-01f,
    -1.4681372e-01f, -2.5244029e+00f, 9.4413418e-01f, 6.4983611e+00f, -3.9334676e+00f, 3.4136174e+00f, 9.6269474e+00f, 2.0965242e+00f,
    1.6922773e-01f, 4.3343272e+00f, -4.5848736e-01f, 3.3320084e+00f, -9.0996248e-01f, -1.0225049e+00f, 2.9419379e+00f, 1.5656471e+00f,
    -3.3917429e+00f, -1.5559566e+00f, -4.9118428e+00f, -1.3362213e+00f, 2.3239374e+00f, -5.8292408e+00f, -2.1776950e+00f, 2.1965761e+00f,
};

static const hf_tensor hf_tensors_39[] = {
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.embedding_norm.weight", {48}, 1, 1, 1},
    {"model.layers.#.ffn_norm.weight", {48}, 1, 3, 1},
    {"model.layers.#.operator_norm.weight", {48}, 1, 3, 1},
    {"model.layers.0.conv.conv.weight", {48, 1, 3}, 3, 1, 1},
    {"model.layers.0.conv.in_proj.weight", {144, 48}, 2, 1, 1},
    {"model.layers.0.conv.out_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.0.feed_forward.w1.weight", {40, 48}, 2, 1, 1},
    {"model.layers.0.feed_forward.w2.weight", {48, 40}, 2, 1, 1},
    {"model.layers.0.feed_forward.w3.weight", {40, 48}, 2, 1, 1},
    {"model.layers.1.feed_forward.expert_bias", {5}, 1, 1, 1},
    {"model.layers.1.feed_forward.experts.#.w1.weight", {24, 48}, 2, 5, 1},
    {"model.layers.1.feed_forward.experts.#.w2.weight", {48, 24}, 2, 5, 1},
    {"model.layers.1.feed_forward.experts.#.w3.weight", {24, 48}, 2, 5, 1},
    {"model.layers.1.feed_forward.gate.weight", {5, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.k_layernorm.weight", {8}, 1, 1, 1},
    {"model.layers.1.self_attn.k_proj.weight", {24, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.out_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.q_layernorm.weight", {8}, 1, 1, 1},
    {"model.layers.1.self_attn.q_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.v_proj.weight", {24, 48}, 2, 1, 1},
    {"model.layers.2.conv.conv.weight", {48, 1, 3}, 3, 1, 1},
    {"model.layers.2.conv.in_proj.weight", {144, 48}, 2, 1, 1},
    {"model.layers.2.conv.out_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.2.feed_forward.expert_bias", {5}, 1, 1, 1},
    {"model.layers.2.feed_forward.experts.#.w1.weight", {24, 48}, 2, 5, 1},
    {"model.layers.2.feed_forward.experts.#.w2.weight", {48, 24}, 2, 5, 1},
    {"model.layers.2.feed_forward.experts.#.w3.weight", {24, 48}, 2, 5, 1},
    {"model.layers.2.feed_forward.gate.weight", {5, 48}, 2, 1, 1},
    {0},
};
static const char hf_config_39[] =
    "{\"conv_L_cache\": 3, \"conv_bias\": false, \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_types\": ["
    "\"conv\", \"full_attention\", \"conv\"], \"max_position_embeddings\": 64, \"model_type\": \"lfm2_moe\", \"moe_int"
    "ermediate_size\": 24, \"norm_eps\": 1e-05, \"norm_topk_prob\": true, \"num_attention_heads\": 6, \"num_dense"
    "_layers\": 1, \"num_experts\": 5, \"num_experts_per_tok\": 3, \"num_hidden_layers\": 3, \"num_key_value_head"
    "s\": 3, \"rope_parameters\": {\"rope_theta\": 1000000.0, \"rope_type\": \"default\"}, \"routed_scaling_factor\""
    ": 1.0, \"tie_word_embeddings\": true, \"use_expert_bias\": true, \"vocab_size\": 40}";
static const float hf_logits_39[] = {
    1.2985967e+00f, 2.9418329e+01f, -3.1872168e+00f, -4.1357777e-01f, -2.4461851e+00f, 8.6878496e-01f, -6.0812539e-01f, 3.4081943e+00f,
    -1.1574411e+00f, 6.0989585e+00f, -2.8844941e+00f, 6.8216127e-01f, 1.7378353e+00f, -3.7839794e+00f, -9.0227765e-01f, 4.1149747e-01f,
    -4.9285603e-01f, -2.1013112e+00f, 4.4597358e-01f, 7.4824209e+00f, -4.2999973e+00f, 2.5373704e+00f, 8.8032818e+00f, 2.4595742e+00f,
    -3.9811274e-01f, 5.3072023e+00f, -8.7707335e-01f, 2.8632829e+00f, -2.0147882e+00f, -2.0170085e+00f, 3.8727582e+00f, 1.3884388e+00f,
    -3.2707696e+00f, -2.5772727e+00f, -5.9986706e+00f, -2.0142758e+00f, 1.6997656e+00f, -5.3581719e+00f, -2.9297853e+00f, 1.9218556e+00f,
};

static const hf_tensor hf_tensors_40[] = {
    {"backbone.embeddings.weight", {40, 48}, 2, 1, 1},
    {"backbone.layers.#.mixer.A_log", {6}, 1, 2, 1},
    {"backbone.layers.#.mixer.D", {6}, 1, 2, 1},
    {"backbone.layers.#.mixer.conv1d.bias", {144}, 1, 2, 1},
    {"backbone.layers.#.mixer.conv1d.weight", {144, 1, 4}, 3, 2, 1},
    {"backbone.layers.#.mixer.dt_bias", {6}, 1, 2, 1},
    {"backbone.layers.#.mixer.in_proj.weight", {246, 48}, 2, 2, 1},
    {"backbone.layers.#.mixer.norm.weight", {96}, 1, 2, 1},
    {"backbone.layers.#.mixer.out_proj.weight", {48, 96}, 2, 2, 1},
    {"backbone.layers.#.norm.weight", {48}, 1, 2, 1},
    {"backbone.norm_f.weight", {48}, 1, 1, 1},
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {0},
};
static const char hf_config_40[] =
    "{\"chunk_size\": 8, \"conv_kernel\": 4, \"expand\": 2, \"head_dim\": 16, \"hidden_act\": \"silu\", \"hidden_size\""
    ": 48, \"layer_norm_epsilon\": 1e-05, \"model_type\": \"mamba2\", \"n_groups\": 2, \"num_heads\": 6, \"num_hidde"
    "n_layers\": 2, \"rescale_prenorm_residual\": false, \"residual_in_fp32\": true, \"state_size\": 12, \"tie_wo"
    "rd_embeddings\": false, \"time_step_floor\": 0.0001, \"time_step_limit\": [0.0, 1000000000.0], \"time_step"
    "_max\": 0.1, \"time_step_min\": 0.001, \"time_step_rank\": 3, \"use_bias\": false, \"use_conv_bias\": true, \""
    "vocab_size\": 40}";
static const float hf_logits_40[] = {
    -1.2546512e+00f, 3.8287407e-01f, 6.1092407e-01f, -1.6152440e+00f, 3.1873243e+00f, -2.0225899e+00f, 3.9545720e+00f, 3.2932422e+00f,
    4.2405181e+00f, -3.3197067e+00f, -5.2158918e+00f, -2.4454385e-01f, -5.3300536e-01f, -1.4159966e+00f, -7.4767238e-01f, 7.0819969e+00f,
    -1.9918444e+00f, 6.0728488e+00f, 1.4599019e+00f, -4.1277046e+00f, -1.7948444e+00f, -5.0881424e+00f, -2.6343312e+00f, 8.5884867e+00f,
    1.1084369e+00f, -3.2438824e+00f, -5.0898743e+00f, -4.4691019e+00f, -2.7707508e+00f, -2.1067474e+00f, -4.0043855e+00f, -1.7373204e+00f,
    6.0747081e-01f, 5.0015140e-01f, 4.2201142e+00f, -4.9435363e+00f, -7.1932268e+00f, 7.9085312e+00f, 6.8179507e+00f, -5.3353906e+00f,
};

static const hf_tensor hf_tensors_41[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.block_sparse_moe.input_linear.weight", {5, 80, 48}, 3, 3, 1},
    {"model.layers.#.block_sparse_moe.output_linear.weight", {5, 48, 40}, 3, 3, 1},
    {"model.layers.#.block_sparse_moe.router.layer.weight", {5, 48}, 2, 3, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.shared_mlp.input_linear.weight", {64, 48}, 2, 3, 1},
    {"model.layers.#.shared_mlp.output_linear.weight", {48, 32}, 2, 3, 1},
    {"model.layers.0.mamba.A_log", {6}, 1, 1, 1},
    {"model.layers.0.mamba.D", {6}, 1, 1, 1},
    {"model.layers.0.mamba.conv1d.bias", {144}, 1, 1, 1},
    {"model.layers.0.mamba.conv1d.weight", {144, 1, 4}, 3, 1, 1},
    {"model.layers.0.mamba.dt_bias", {6}, 1, 1, 1},
    {"model.layers.0.mamba.in_proj.weight", {246, 48}, 2, 1, 1},
    {"model.layers.0.mamba.norm.weight", {96}, 1, 1, 1},
    {"model.layers.0.mamba.out_proj.weight", {48, 96}, 2, 1, 1},
    {"model.layers.1.self_attn.k_proj.weight", {24, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.o_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.q_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.v_proj.weight", {24, 48}, 2, 1, 1},
    {"model.layers.2.mamba.A_log", {6}, 1, 1, 1},
    {"model.layers.2.mamba.D", {6}, 1, 1, 1},
    {"model.layers.2.mamba.conv1d.bias", {144}, 1, 1, 1},
    {"model.layers.2.mamba.conv1d.weight", {144, 1, 4}, 3, 1, 1},
    {"model.layers.2.mamba.dt_bias", {6}, 1, 1, 1},
    {"model.layers.2.mamba.in_proj.weight", {246, 48}, 2, 1, 1},
    {"model.layers.2.mamba.norm.weight", {96}, 1, 1, 1},
    {"model.layers.2.mamba.out_proj.weight", {48, 96}, 2, 1, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_41[] =
    "{\"attention_bias\": false, \"attention_multiplier\": 0.25, \"embedding_multiplier\": 6.0, \"hidden_act\": \""
    "silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_types\": [\"linear_attention\", \"full_attenti"
    "on\", \"linear_attention\"], \"logits_scaling\": 4.0, \"mamba_chunk_size\": 8, \"mamba_conv_bias\": true, \"ma"
    "mba_d_conv\": 4, \"mamba_d_head\": 16, \"mamba_d_state\": 12, \"mamba_expand\": 2, \"mamba_n_groups\": 2, \"ma"
    "mba_n_heads\": 6, \"mamba_proj_bias\": false, \"max_position_embeddings\": 64, \"model_type\": \"granitemoeh"
    "ybrid\", \"num_attention_heads\": 6, \"num_experts_per_tok\": 3, \"num_hidden_layers\": 3, \"num_key_value_h"
    "eads\": 3, \"num_local_experts\": 5, \"position_embedding_type\": null, \"residual_multiplier\": 0.5, \"rms_"
    "norm_eps\": 1e-06, \"rope_parameters\": {\"rope_theta\": 10000.0, \"rope_type\": \"default\"}, \"shared_interm"
    "ediate_size\": 32, \"tie_word_embeddings\": false, \"time_step_limit\": [0.0, {\"__float__\": \"Infinity\"}],"
    " \"vocab_size\": 40}";
static const float hf_logits_41[] = {
    -2.3677671e-01f, -2.2263913e-01f, -3.4057167e-01f, 1.9601994e+00f, -1.2393813e+00f, 1.3124654e+00f, 3.6450374e-01f, -6.5778536e-01f,
    5.1062310e-01f, -1.4824325e-01f, 1.6102612e+00f, -6.3898814e-01f, 5.9009075e-01f, 3.3280057e-01f, -4.3296671e-01f, -8.6279583e-01f,
    1.5479848e-01f, -1.4981130e+00f, -1.0981877e+00f, -1.1299131e+00f, 1.9879087e+00f, 9.3276715e-01f, -7.8949744e-01f, -6.8970162e-01f,
    7.4408990e-01f, -4.0628585e-01f, -4.6218961e-01f, -7.3678964e-01f, 1.6868565e+00f, 4.4153824e-02f, 2.1317182e+00f, -9.6406490e-01f,
    -9.2432410e-02f, 2.2242071e-02f, 3.5075191e-01f, 5.3815770e-01f, -3.1014246e-01f, -1.8174931e+00f, -4.9670365e-02f, -6.5443873e-01f,
};

static const hf_tensor hf_tensors_42[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.mlp.experts.down_proj", {5, 40, 48}, 3, 3, 1},
    {"model.layers.#.mlp.experts.down_proj_bias", {5, 48}, 2, 3, 1},
    {"model.layers.#.mlp.experts.gate_up_proj", {5, 48, 80}, 3, 3, 1},
    {"model.layers.#.mlp.experts.gate_up_proj_bias", {5, 80}, 2, 3, 1},
    {"model.layers.#.mlp.router.bias", {5}, 1, 3, 1},
    {"model.layers.#.mlp.router.weight", {5, 48}, 2, 3, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.self_attn.k_proj.bias", {48}, 1, 3, 1},
    {"model.layers.#.self_attn.k_proj.weight", {48, 48}, 2, 3, 1},
    {"model.layers.#.self_attn.o_proj.bias", {48}, 1, 3, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 96}, 2, 3, 1},
    {"model.layers.#.self_attn.q_proj.bias", {96}, 1, 3, 1},
    {"model.layers.#.self_attn.q_proj.weight", {96, 48}, 2, 3, 1},
    {"model.layers.#.self_attn.sinks", {6}, 1, 3, 1},
    {"model.layers.#.self_attn.v_proj.bias", {48}, 1, 3, 1},
    {"model.layers.#.self_attn.v_proj.weight", {48, 48}, 2, 3, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_42[] =
    "{\"attention_bias\": true, \"head_dim\": 16, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size"
    "\": 40, \"layer_types\": [\"sliding_attention\", \"full_attention\", \"sliding_attention\"], \"max_position_em"
    "beddings\": 64, \"model_type\": \"gpt_oss\", \"num_attention_heads\": 6, \"num_experts_per_tok\": 3, \"num_hid"
    "den_layers\": 3, \"num_key_value_heads\": 3, \"num_local_experts\": 5, \"rms_norm_eps\": 1e-05, \"rope_param"
    "eters\": {\"rope_theta\": 10000.0, \"rope_type\": \"default\"}, \"sliding_window\": 7, \"swiglu_alpha\": 1.702,"
    " \"swiglu_limit\": 7.0, \"tie_word_embeddings\": false, \"vocab_size\": 40}";
static const float hf_logits_42[] = {
    2.1716392e-01f, -6.7911839e-01f, -1.4354721e-01f, 6.3664894e+00f, -5.8842673e+00f, 3.4916172e+00f, 3.0095665e+00f, -2.8433738e+00f,
    6.5179145e-01f, -4.4290576e+00f, 7.1351633e+00f, -5.6051826e+00f, 1.0361974e+00f, 2.6813149e+00f, -1.2592623e+00f, -4.2190337e+00f,
    1.0703026e+00f, -8.4998522e+00f, -4.4165959e+00f, -7.6205955e+00f, 6.0638022e+00f, 2.3698385e+00f, -4.0455880e+00f, -4.3049245e+00f,
    2.9035103e+00f, -1.2660279e+00f, -2.8091805e+00f, -1.7231022e+00f, 5.6937275e+00f, 1.0166373e+00f, 6.5281925e+00f, -5.3506408e+00f,
    3.5586089e-02f, 1.1792400e+00f, 1.1508650e+00f, 1.5063540e+00f, -4.6805701e-01f, -4.7195663e+00f, 8.1704330e-01f, -9.3216836e-01f,
};

static const hf_tensor hf_tensors_43[] = {
    {"lm_head.weight", {40, 64}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 64}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {64}, 1, 2, 1},
    {"model.layers.#.mlp.experts.down_proj_bias", {5, 64}, 2, 2, 1},
    {"model.layers.#.mlp.experts.down_proj_blocks", {5, 64, 1, 16}, 4, 2, 1},
    {"model.layers.#.mlp.experts.down_proj_scales", {5, 64, 1}, 3, 2, 1},
    {"model.layers.#.mlp.experts.gate_up_proj_bias", {5, 64}, 2, 2, 1},
    {"model.layers.#.mlp.experts.gate_up_proj_blocks", {5, 64, 2, 16}, 4, 2, 1},
    {"model.layers.#.mlp.experts.gate_up_proj_scales", {5, 64, 2}, 3, 2, 1},
    {"model.layers.#.mlp.router.bias", {5}, 1, 2, 1},
    {"model.layers.#.mlp.router.weight", {5, 64}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {64}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {48, 64}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.bias", {64}, 1, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {64, 96}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.bias", {96}, 1, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {96, 64}, 2, 2, 1},
    {"model.layers.#.self_attn.sinks", {6}, 1, 2, 1},
    {"model.layers.#.self_attn.v_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {48, 64}, 2, 2, 1},
    {"model.norm.weight", {64}, 1, 1, 1},
    {0},
};
static const char hf_config_43[] =
    "{\"attention_bias\": true, \"head_dim\": 16, \"hidden_act\": \"silu\", \"hidden_size\": 64, \"intermediate_size"
    "\": 32, \"layer_types\": [\"sliding_attention\", \"full_attention\"], \"max_position_embeddings\": 64, \"model"
    "_type\": \"gpt_oss\", \"num_attention_heads\": 6, \"num_experts_per_tok\": 3, \"num_hidden_layers\": 2, \"num_"
    "key_value_heads\": 3, \"num_local_experts\": 5, \"rms_norm_eps\": 1e-05, \"rope_parameters\": {\"rope_theta\""
    ": 10000.0, \"rope_type\": \"default\"}, \"sliding_window\": 7, \"swiglu_alpha\": 1.702, \"swiglu_limit\": 7.0,"
    " \"tie_word_embeddings\": false, \"vocab_size\": 40, \"quantization_config\": {\"quant_method\": \"mxfp4\"}}";
static const float hf_logits_43[] = {
    -3.5500329e+00f, 5.6374474e+00f, -1.7009237e+00f, -5.2019744e+00f, 3.5308454e+00f, -7.0625296e+00f, -2.7682757e+00f, -5.3344245e+00f,
    4.6154871e+00f, 7.8126750e+00f, -3.9286227e+00f, -5.5432734e+00f, -5.2850418e+00f, -6.6628680e+00f, -4.8199730e+00f, -4.8392987e+00f,
    5.4971347e+00f, 3.1107490e+00f, 1.2256844e+00f, -8.9980608e-01f, 3.8782554e+00f, 1.7938358e+00f, -6.2507796e-01f, 5.4569143e-01f,
    2.1789167e+00f, -1.1974065e+00f, -3.5003748e+00f, -2.3407366e+00f, -1.3730899e+00f, -1.1710243e-01f, 5.0576892e+00f, -1.7395351e+00f,
    3.6260409e+00f, -1.1679364e+00f, -1.8958969e+00f, -1.1869310e+01f, 1.7431785e-01f, -6.2334757e+00f, 1.5823113e+00f, 2.5529444e+00f,
};

static const hf_tensor hf_tensors_44[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.mlp.experts.#.down_proj.weight", {48, 24}, 2, 3, 5},
    {"model.layers.#.mlp.experts.#.gate_proj.weight", {24, 48}, 2, 3, 5},
    {"model.layers.#.mlp.experts.#.up_proj.weight", {24, 48}, 2, 3, 5},
    {"model.layers.#.mlp.gate.weight", {5, 48}, 2, 3, 1},
    {"model.layers.#.mlp.shared_expert.down_proj.weight", {48, 32}, 2, 3, 1},
    {"model.layers.#.mlp.shared_expert.gate_proj.weight", {32, 48}, 2, 3, 1},
    {"model.layers.#.mlp.shared_expert.up_proj.weight", {32, 48}, 2, 3, 1},
    {"model.layers.#.mlp.shared_expert_gate.weight", {1, 48}, 2, 3, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.0.linear_attn.A_log", {4}, 1, 1, 1},
    {"model.layers.0.linear_attn.conv1d.weight", {128, 1, 4}, 3, 1, 1},
    {"model.layers.0.linear_attn.dt_bias", {4}, 1, 1, 1},
    {"model.layers.0.linear_attn.in_proj_ba.weight", {8, 48}, 2, 1, 1},
    {"model.layers.0.linear_attn.in_proj_qkvz.weight", {192, 48}, 2, 1, 1},
    {"model.layers.0.linear_attn.norm.weight", {16}, 1, 1, 1},
    {"model.layers.0.linear_attn.out_proj.weight", {48, 64}, 2, 1, 1},
    {"model.layers.1.self_attn.k_norm.weight", {16}, 1, 1, 1},
    {"model.layers.1.self_attn.k_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.o_proj.weight", {48, 96}, 2, 1, 1},
    {"model.layers.1.self_attn.q_norm.weight", {16}, 1, 1, 1},
    {"model.layers.1.self_attn.q_proj.weight", {192, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.v_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.2.linear_attn.A_log", {4}, 1, 1, 1},
    {"model.layers.2.linear_attn.conv1d.weight", {128, 1, 4}, 3, 1, 1},
    {"model.layers.2.linear_attn.dt_bias", {4}, 1, 1, 1},
    {"model.layers.2.linear_attn.in_proj_ba.weight", {8, 48}, 2, 1, 1},
    {"model.layers.2.linear_attn.in_proj_qkvz.weight", {192, 48}, 2, 1, 1},
    {"model.layers.2.linear_attn.norm.weight", {16}, 1, 1, 1},
    {"model.layers.2.linear_attn.out_proj.weight", {48, 64}, 2, 1, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_44[] =
    "{\"attention_bias\": false, \"decoder_sparse_step\": 1, \"full_attention_interval\": 2, \"head_dim\": 16, \"h"
    "idden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_types\": [\"linear_attention\", "
    "\"full_attention\", \"linear_attention\"], \"linear_conv_kernel_dim\": 4, \"linear_key_head_dim\": 16, \"line"
    "ar_num_key_heads\": 2, \"linear_num_value_heads\": 4, \"linear_value_head_dim\": 16, \"max_position_embedd"
    "ings\": 64, \"mlp_only_layers\": [], \"model_type\": \"qwen3_next\", \"moe_intermediate_size\": 24, \"norm_top"
    "k_prob\": true, \"num_attention_heads\": 6, \"num_experts\": 5, \"num_experts_per_tok\": 3, \"num_hidden_lay"
    "ers\": 3, \"num_key_value_heads\": 3, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\"partial_rotary_factor"
    "\": 0.25, \"rope_theta\": 10000.0, \"rope_type\": \"default\"}, \"shared_expert_intermediate_size\": 32, \"tie"
    "_word_embeddings\": false, \"vocab_size\": 40}";
static const float hf_logits_44[] = {
    1.0527634e+01f, 2.3510537e+00f, 7.9237590e+00f, 1.5545630e+01f, -2.2280952e-01f, 3.7406075e+00f, 5.9106717e+00f, -1.3407840e+01f,
    7.0878644e+00f, -2.3953946e+00f, 6.5632277e+00f, -8.6467874e-01f, 1.0229705e+01f, 4.6175518e+00f, -6.8207186e-01f, -7.3804541e+00f,
    6.7240558e+00f, -1.2625422e+01f, -1.2078545e+01f, -9.9156580e+00f, 1.0290316e+01f, 2.8041022e+00f, -8.9400759e+00f, -2.9691494e-01f,
    2.7695272e+00f, 2.2663784e+00f, 5.5333421e-02f, -4.7746177e+00f, 4.3422551e+00f, 6.8217125e+00f, 9.1702433e+00f, 1.8999320e+00f,
    1.9268737e+00f, -4.3137965e-01f, 6.4792824e+00f, 8.1099319e+00f, 7.9798465e+00f, -2.4070885e+00f, 8.1109667e+00f, -4.9679155e+00f,
};

static const hf_tensor hf_tensors_45[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.final_layernorm.weight", {48}, 1, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.pre_ff_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.0.feed_forward.down_proj.weight", {48, 40}, 2, 1, 1},
    {"model.layers.0.feed_forward.gate_proj.weight", {40, 48}, 2, 1, 1},
    {"model.layers.0.feed_forward.up_proj.weight", {40, 48}, 2, 1, 1},
    {"model.layers.0.mamba.A_log", {96, 12}, 2, 1, 1},
    {"model.layers.0.mamba.D", {96}, 1, 1, 1},
    {"model.layers.0.mamba.b_layernorm.weight", {12}, 1, 1, 1},
    {"model.layers.0.mamba.c_layernorm.weight", {12}, 1, 1, 1},
    {"model.layers.0.mamba.conv1d.bias", {96}, 1, 1, 1},
    {"model.layers.0.mamba.conv1d.weight", {96, 1, 4}, 3, 1, 1},
    {"model.layers.0.mamba.dt_layernorm.weight", {5}, 1, 1, 1},
    {"model.layers.0.mamba.dt_proj.bias", {96}, 1, 1, 1},
    {"model.layers.0.mamba.dt_proj.weight", {96, 5}, 2, 1, 1},
    {"model.layers.0.mamba.in_proj.weight", {192, 48}, 2, 1, 1},
    {"model.layers.0.mamba.out_proj.weight", {48, 96}, 2, 1, 1},
    {"model.layers.0.mamba.x_proj.weight", {29, 96}, 2, 1, 1},
    {"model.layers.1.feed_forward.experts.#.down_proj.weight", {48, 40}, 2, 5, 1},
    {"model.layers.1.feed_forward.experts.#.gate_proj.weight", {40, 48}, 2, 5, 1},
    {"model.layers.1.feed_forward.experts.#.up_proj.weight", {40, 48}, 2, 5, 1},
    {"model.layers.1.feed_forward.router.weight", {5, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.k_proj.weight", {24, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.o_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.q_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.v_proj.weight", {24, 48}, 2, 1, 1},
    {"model.layers.2.feed_forward.down_proj.weight", {48, 40}, 2, 1, 1},
    {"model.layers.2.feed_forward.gate_proj.weight", {40, 48}, 2, 1, 1},
    {"model.layers.2.feed_forward.up_proj.weight", {40, 48}, 2, 1, 1},
    {"model.layers.2.mamba.A_log", {96, 12}, 2, 1, 1},
    {"model.layers.2.mamba.D", {96}, 1, 1, 1},
    {"model.layers.2.mamba.b_layernorm.weight", {12}, 1, 1, 1},
    {"model.layers.2.mamba.c_layernorm.weight", {12}, 1, 1, 1},
    {"model.layers.2.mamba.conv1d.bias", {96}, 1, 1, 1},
    {"model.layers.2.mamba.conv1d.weight", {96, 1, 4}, 3, 1, 1},
    {"model.layers.2.mamba.dt_layernorm.weight", {5}, 1, 1, 1},
    {"model.layers.2.mamba.dt_proj.bias", {96}, 1, 1, 1},
    {"model.layers.2.mamba.dt_proj.weight", {96, 5}, 2, 1, 1},
    {"model.layers.2.mamba.in_proj.weight", {192, 48}, 2, 1, 1},
    {"model.layers.2.mamba.out_proj.weight", {48, 96}, 2, 1, 1},
    {"model.layers.2.mamba.x_proj.weight", {29, 96}, 2, 1, 1},
    {0},
};
static const char hf_config_45[] =
    "{\"attn_layer_offset\": 1, \"attn_layer_period\": 2, \"expert_layer_offset\": 1, \"expert_layer_period\": 2,"
    " \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"mamba_conv_bias\": true, \"mamba_d"
    "_conv\": 4, \"mamba_d_state\": 12, \"mamba_dt_rank\": 5, \"mamba_expand\": 2, \"mamba_proj_bias\": false, \"ma"
    "x_position_embeddings\": 64, \"model_type\": \"jamba\", \"num_attention_heads\": 6, \"num_experts\": 5, \"num_"
    "experts_per_tok\": 3, \"num_hidden_layers\": 3, \"num_key_value_heads\": 3, \"rms_norm_eps\": 1e-06, \"tie_w"
    "ord_embeddings\": false, \"use_associative_scan\": true, \"use_mamba_kernels\": false, \"use_mambapy\": fal"
    "se, \"vocab_size\": 40}";
static const float hf_logits_45[] = {
    -4.3454385e+00f, -9.9123955e-01f, -2.0192935e-01f, 6.6729469e+00f, -5.0683346e+00f, 2.9955063e+00f, 2.3973720e+00f, -1.8325429e+00f,
    2.6216071e+00f, -1.2948630e+00f, 7.8220048e+00f, 6.0861355e-01f, 3.4769988e+00f, -1.7496779e+00f, -1.5986552e+00f, -3.0526671e+00f,
    -6.7879444e-01f, -3.8828478e+00f, -6.0310035e+00f, -4.7147932e+00f, 5.9494858e+00f, 3.2042084e+00f, -5.8267546e+00f, -1.6537142e+00f,
    1.7823958e+00f, -2.9736671e+00f, -2.7843800e+00f, -4.2994266e+00f, 5.8410611e+00f, 1.6314274e+00f, 1.0750318e+01f, -2.2582297e+00f,
    -2.3780499e+00f, -6.2054372e-01f, 1.1630358e+00f, -3.8704720e-01f, -7.1979141e-01f, -5.4058008e+00f, 2.9491046e-02f, -4.4871330e+00f,
};

static const hf_tensor hf_tensors_46[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 3, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 3, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 3, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.0.linear_attn.A_log", {6}, 1, 1, 1},
    {"model.layers.0.linear_attn.conv1d.weight", {160, 1, 4}, 3, 1, 1},
    {"model.layers.0.linear_attn.dt_bias", {6}, 1, 1, 1},
    {"model.layers.0.linear_attn.in_proj_a.weight", {6, 48}, 2, 1, 1},
    {"model.layers.0.linear_attn.in_proj_b.weight", {6, 48}, 2, 1, 1},
    {"model.layers.0.linear_attn.in_proj_qkv.weight", {160, 48}, 2, 1, 1},
    {"model.layers.0.linear_attn.in_proj_z.weight", {96, 48}, 2, 1, 1},
    {"model.layers.0.linear_attn.norm.weight", {16}, 1, 1, 1},
    {"model.layers.0.linear_attn.out_proj.weight", {48, 96}, 2, 1, 1},
    {"model.layers.1.self_attn.k_norm.weight", {16}, 1, 1, 1},
    {"model.layers.1.self_attn.k_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.o_proj.weight", {48, 96}, 2, 1, 1},
    {"model.layers.1.self_attn.q_norm.weight", {16}, 1, 1, 1},
    {"model.layers.1.self_attn.q_proj.weight", {192, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.v_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.2.linear_attn.A_log", {6}, 1, 1, 1},
    {"model.layers.2.linear_attn.conv1d.weight", {160, 1, 4}, 3, 1, 1},
    {"model.layers.2.linear_attn.dt_bias", {6}, 1, 1, 1},
    {"model.layers.2.linear_attn.in_proj_a.weight", {6, 48}, 2, 1, 1},
    {"model.layers.2.linear_attn.in_proj_b.weight", {6, 48}, 2, 1, 1},
    {"model.layers.2.linear_attn.in_proj_qkv.weight", {160, 48}, 2, 1, 1},
    {"model.layers.2.linear_attn.in_proj_z.weight", {96, 48}, 2, 1, 1},
    {"model.layers.2.linear_attn.norm.weight", {16}, 1, 1, 1},
    {"model.layers.2.linear_attn.out_proj.weight", {48, 96}, 2, 1, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_46[] =
    "{\"attention_bias\": false, \"full_attention_interval\": 2, \"head_dim\": 16, \"hidden_act\": \"silu\", \"hidde"
    "n_size\": 48, \"intermediate_size\": 40, \"layer_types\": [\"linear_attention\", \"full_attention\", \"linear_"
    "attention\"], \"linear_conv_kernel_dim\": 4, \"linear_key_head_dim\": 16, \"linear_num_key_heads\": 2, \"lin"
    "ear_num_value_heads\": 6, \"linear_value_head_dim\": 16, \"max_position_embeddings\": 64, \"model_type\": \""
    "qwen3_5_text\", \"num_attention_heads\": 6, \"num_hidden_layers\": 3, \"num_key_value_heads\": 3, \"rms_norm"
    "_eps\": 1e-06, \"rope_parameters\": {\"partial_rotary_factor\": 0.25, \"rope_theta\": 10000.0, \"rope_type\":"
    " \"default\"}, \"tie_word_embeddings\": false, \"vocab_size\": 40}";
static const float hf_logits_46[] = {
    -2.1395135e+00f, -6.1082864e+00f, -2.8142262e+00f, 7.4957910e+00f, -2.7181931e+00f, 1.9341246e+00f, -5.4366541e+00f, -3.8860497e+00f,
    3.0837086e-01f, -1.7978601e+00f, -2.8750318e-01f, 1.7829920e+00f, 9.9597225e+00f, 1.3344182e+00f, -7.4115324e+00f, -1.2820547e+01f,
    -2.8069837e+00f, -4.5180316e+00f, -1.5096131e+01f, 3.7641032e+00f, 8.7258196e+00f, 1.1086017e+01f, -6.8731952e+00f, -9.9747686e+00f,
    3.9650755e+00f, 1.0287338e+00f, -5.6571746e-01f, -9.0295525e+00f, 1.9318516e+01f, 2.8166454e+00f, 4.2562499e+00f, 5.3242624e-01f,
    4.9316392e+00f, 1.9883729e+00f, -3.1955662e+00f, -6.0908952e+00f, 1.6179974e+00f, -3.7344124e+00f, -3.6443145e+00f, -2.9548941e+00f,
};

static const hf_tensor hf_tensors_47[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.mlp.experts.#.down_proj.weight", {48, 24}, 2, 3, 5},
    {"model.layers.#.mlp.experts.#.gate_proj.weight", {24, 48}, 2, 3, 5},
    {"model.layers.#.mlp.experts.#.up_proj.weight", {24, 48}, 2, 3, 5},
    {"model.layers.#.mlp.gate.weight", {5, 48}, 2, 3, 1},
    {"model.layers.#.mlp.shared_expert.down_proj.weight", {48, 32}, 2, 3, 1},
    {"model.layers.#.mlp.shared_expert.gate_proj.weight", {32, 48}, 2, 3, 1},
    {"model.layers.#.mlp.shared_expert.up_proj.weight", {32, 48}, 2, 3, 1},
    {"model.layers.#.mlp.shared_expert_gate.weight", {1, 48}, 2, 3, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.0.linear_attn.A_log", {6}, 1, 1, 1},
    {"model.layers.0.linear_attn.conv1d.weight", {160, 1, 4}, 3, 1, 1},
    {"model.layers.0.linear_attn.dt_bias", {6}, 1, 1, 1},
    {"model.layers.0.linear_attn.in_proj_a.weight", {6, 48}, 2, 1, 1},
    {"model.layers.0.linear_attn.in_proj_b.weight", {6, 48}, 2, 1, 1},
    {"model.layers.0.linear_attn.in_proj_qkv.weight", {160, 48}, 2, 1, 1},
    {"model.layers.0.linear_attn.in_proj_z.weight", {96, 48}, 2, 1, 1},
    {"model.layers.0.linear_attn.norm.weight", {16}, 1, 1, 1},
    {"model.layers.0.linear_attn.out_proj.weight", {48, 96}, 2, 1, 1},
    {"model.layers.1.self_attn.k_norm.weight", {16}, 1, 1, 1},
    {"model.layers.1.self_attn.k_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.o_proj.weight", {48, 96}, 2, 1, 1},
    {"model.layers.1.self_attn.q_norm.weight", {16}, 1, 1, 1},
    {"model.layers.1.self_attn.q_proj.weight", {192, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.v_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.2.linear_attn.A_log", {6}, 1, 1, 1},
    {"model.layers.2.linear_attn.conv1d.weight", {160, 1, 4}, 3, 1, 1},
    {"model.layers.2.linear_attn.dt_bias", {6}, 1, 1, 1},
    {"model.layers.2.linear_attn.in_proj_a.weight", {6, 48}, 2, 1, 1},
    {"model.layers.2.linear_attn.in_proj_b.weight", {6, 48}, 2, 1, 1},
    {"model.layers.2.linear_attn.in_proj_qkv.weight", {160, 48}, 2, 1, 1},
    {"model.layers.2.linear_attn.in_proj_z.weight", {96, 48}, 2, 1, 1},
    {"model.layers.2.linear_attn.norm.weight", {16}, 1, 1, 1},
    {"model.layers.2.linear_attn.out_proj.weight", {48, 96}, 2, 1, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_47[] =
    "{\"attention_bias\": false, \"full_attention_interval\": 2, \"head_dim\": 16, \"hidden_act\": \"silu\", \"hidde"
    "n_size\": 48, \"intermediate_size\": 40, \"layer_types\": [\"linear_attention\", \"full_attention\", \"linear_"
    "attention\"], \"linear_conv_kernel_dim\": 4, \"linear_key_head_dim\": 16, \"linear_num_key_heads\": 2, \"lin"
    "ear_num_value_heads\": 6, \"linear_value_head_dim\": 16, \"max_position_embeddings\": 64, \"model_type\": \""
    "qwen3_5_moe_text\", \"moe_intermediate_size\": 24, \"num_attention_heads\": 6, \"num_experts\": 5, \"num_exp"
    "erts_per_tok\": 3, \"num_hidden_layers\": 3, \"num_key_value_heads\": 3, \"rms_norm_eps\": 1e-06, \"rope_par"
    "ameters\": {\"partial_rotary_factor\": 0.25, \"rope_theta\": 10000.0, \"rope_type\": \"default\"}, \"shared_ex"
    "pert_intermediate_size\": 32, \"tie_word_embeddings\": false, \"vocab_size\": 40}";
static const float hf_logits_47[] = {
    -5.7487588e+00f, -3.2573330e+00f, 2.2831707e+00f, 1.2953282e+01f, -1.0310894e+01f, -3.1254688e-01f, 4.9561524e+00f, 4.8886638e+00f,
    -2.1871698e+00f, 4.8825722e+00f, 7.5940723e+00f, 8.1832800e+00f, 1.2091252e+01f, 1.0014504e+01f, -3.7998230e+00f, -1.0354663e+01f,
    -1.2841566e+00f, -1.0307015e+01f, -1.2518984e+01f, -2.6143301e+00f, 5.5595360e+00f, 1.1837680e+01f, -8.5517759e+00f, -1.3246332e+01f,
    4.3537831e+00f, 3.8360677e+00f, -2.6158979e+00f, -2.1735830e+01f, 1.2956279e+01f, 2.1737711e+00f, 6.0133753e+00f, -5.4083934e+00f,
    2.0287198e-01f, 6.8249831e+00f, -1.4467847e+00f, 7.0161939e+00f, -5.6247169e-01f, -1.2390927e+01f, 2.4614735e+00f, -4.0605874e+00f,
};

static const hf_tensor hf_tensors_48[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.mlp.experts.down_proj", {5, 48, 24}, 3, 3, 1},
    {"model.layers.#.mlp.experts.gate_up_proj", {5, 48, 48}, 3, 3, 1},
    {"model.layers.#.mlp.gate.weight", {5, 48}, 2, 3, 1},
    {"model.layers.#.mlp.shared_expert.down_proj.weight", {48, 32}, 2, 3, 1},
    {"model.layers.#.mlp.shared_expert.gate_proj.weight", {32, 48}, 2, 3, 1},
    {"model.layers.#.mlp.shared_expert.up_proj.weight", {32, 48}, 2, 3, 1},
    {"model.layers.#.mlp.shared_expert_gate.weight", {1, 48}, 2, 3, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.0.linear_attn.A_log", {6}, 1, 1, 1},
    {"model.layers.0.linear_attn.conv1d.weight", {160, 1, 4}, 3, 1, 1},
    {"model.layers.0.linear_attn.dt_bias", {6}, 1, 1, 1},
    {"model.layers.0.linear_attn.in_proj_a.weight", {6, 48}, 2, 1, 1},
    {"model.layers.0.linear_attn.in_proj_b.weight", {6, 48}, 2, 1, 1},
    {"model.layers.0.linear_attn.in_proj_qkv.weight", {160, 48}, 2, 1, 1},
    {"model.layers.0.linear_attn.in_proj_z.weight", {96, 48}, 2, 1, 1},
    {"model.layers.0.linear_attn.norm.weight", {16}, 1, 1, 1},
    {"model.layers.0.linear_attn.out_proj.weight", {48, 96}, 2, 1, 1},
    {"model.layers.1.self_attn.k_norm.weight", {16}, 1, 1, 1},
    {"model.layers.1.self_attn.k_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.o_proj.weight", {48, 96}, 2, 1, 1},
    {"model.layers.1.self_attn.q_norm.weight", {16}, 1, 1, 1},
    {"model.layers.1.self_attn.q_proj.weight", {192, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.v_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.2.linear_attn.A_log", {6}, 1, 1, 1},
    {"model.layers.2.linear_attn.conv1d.weight", {160, 1, 4}, 3, 1, 1},
    {"model.layers.2.linear_attn.dt_bias", {6}, 1, 1, 1},
    {"model.layers.2.linear_attn.in_proj_a.weight", {6, 48}, 2, 1, 1},
    {"model.layers.2.linear_attn.in_proj_b.weight", {6, 48}, 2, 1, 1},
    {"model.layers.2.linear_attn.in_proj_qkv.weight", {160, 48}, 2, 1, 1},
    {"model.layers.2.linear_attn.in_proj_z.weight", {96, 48}, 2, 1, 1},
    {"model.layers.2.linear_attn.norm.weight", {16}, 1, 1, 1},
    {"model.layers.2.linear_attn.out_proj.weight", {48, 96}, 2, 1, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_48[] =
    "{\"attention_bias\": false, \"full_attention_interval\": 2, \"head_dim\": 16, \"hidden_act\": \"silu\", \"hidde"
    "n_size\": 48, \"intermediate_size\": 40, \"layer_types\": [\"linear_attention\", \"full_attention\", \"linear_"
    "attention\"], \"linear_conv_kernel_dim\": 4, \"linear_key_head_dim\": 16, \"linear_num_key_heads\": 2, \"lin"
    "ear_num_value_heads\": 6, \"linear_value_head_dim\": 16, \"max_position_embeddings\": 64, \"model_type\": \""
    "qwen3_5_moe_text\", \"moe_intermediate_size\": 24, \"num_attention_heads\": 6, \"num_experts\": 5, \"num_exp"
    "erts_per_tok\": 3, \"num_hidden_layers\": 3, \"num_key_value_heads\": 3, \"rms_norm_eps\": 1e-06, \"rope_par"
    "ameters\": {\"partial_rotary_factor\": 0.25, \"rope_theta\": 10000.0, \"rope_type\": \"default\"}, \"shared_ex"
    "pert_intermediate_size\": 32, \"tie_word_embeddings\": false, \"vocab_size\": 40}";
static const float hf_logits_48[] = {
    -8.8134232e+00f, -2.5681217e+00f, -9.2484248e-01f, 2.1648449e+01f, -6.7500916e+00f, 3.5394630e-01f, 2.0963790e+00f, 2.9660115e+00f,
    -3.7147377e+00f, 3.7359763e-02f, 1.2369727e+01f, 4.3931623e+00f, 8.4248781e+00f, 1.4166625e+00f, -5.9265695e+00f, -9.8870964e+00f,
    -4.7429857e+00f, -1.0371153e+01f, -1.0609239e+01f, -1.1845618e+00f, 1.4092669e+01f, 1.1605679e+01f, -1.5394320e+01f, -1.1997583e+01f,
    -7.4908781e-01f, 2.0210361e+00f, -1.6793270e+00f, -1.6099810e+01f, 1.5352582e+01f, 5.4397974e+00f, 1.0390240e+01f, -7.0651479e+00f,
    -2.8439455e+00f, 2.0706093e+00f, 2.0247564e+00f, 8.3126822e+00f, -4.1227612e+00f, -1.2877893e+01f, -1.8633722e+00f, -8.3959751e+00f,
};

static const hf_tensor hf_tensors_49[] = {
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens_per_layer.weight", {40, 32}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 4, 1},
    {"model.layers.#.layer_scalar", {1}, 1, 4, 1},
    {"model.layers.#.per_layer_input_gate.weight", {8, 48}, 2, 4, 1},
    {"model.layers.#.per_layer_projection.weight", {48, 8}, 2, 4, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 4, 1},
    {"model.layers.#.post_feedforward_layernorm.weight", {48}, 1, 4, 1},
    {"model.layers.#.post_per_layer_input_norm.weight", {48}, 1, 4, 1},
    {"model.layers.#.pre_feedforward_layernorm.weight", {48}, 1, 4, 1},
    {"model.layers.0.mlp.down_proj.weight", {48, 40}, 2, 1, 1},
    {"model.layers.0.mlp.gate_proj.weight", {40, 48}, 2, 1, 1},
    {"model.layers.0.mlp.up_proj.weight", {40, 48}, 2, 1, 1},
    {"model.layers.0.self_attn.k_norm.weight", {16}, 1, 1, 1},
    {"model.layers.0.self_attn.k_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.0.self_attn.o_proj.weight", {48, 96}, 2, 1, 1},
    {"model.layers.0.self_attn.q_norm.weight", {16}, 1, 1, 1},
    {"model.layers.0.self_attn.q_proj.weight", {96, 48}, 2, 1, 1},
    {"model.layers.0.self_attn.v_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.1.mlp.down_proj.weight", {48, 40}, 2, 1, 1},
    {"model.layers.1.mlp.gate_proj.weight", {40, 48}, 2, 1, 1},
    {"model.layers.1.mlp.up_proj.weight", {40, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.k_norm.weight", {32}, 1, 1, 1},
    {"model.layers.1.self_attn.k_proj.weight", {96, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.o_proj.weight", {48, 192}, 2, 1, 1},
    {"model.layers.1.self_attn.q_norm.weight", {32}, 1, 1, 1},
    {"model.layers.1.self_attn.q_proj.weight", {192, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.v_proj.weight", {96, 48}, 2, 1, 1},
    {"model.layers.2.mlp.down_proj.weight", {48, 80}, 2, 1, 1},
    {"model.layers.2.mlp.gate_proj.weight", {80, 48}, 2, 1, 1},
    {"model.layers.2.mlp.up_proj.weight", {80, 48}, 2, 1, 1},
    {"model.layers.2.self_attn.o_proj.weight", {48, 96}, 2, 1, 1},
    {"model.layers.2.self_attn.q_norm.weight", {16}, 1, 1, 1},
    {"model.layers.2.self_attn.q_proj.weight", {96, 48}, 2, 1, 1},
    {"model.layers.3.mlp.down_proj.weight", {48, 80}, 2, 1, 1},
    {"model.layers.3.mlp.gate_proj.weight", {80, 48}, 2, 1, 1},
    {"model.layers.3.mlp.up_proj.weight", {80, 48}, 2, 1, 1},
    {"model.layers.3.self_attn.o_proj.weight", {48, 192}, 2, 1, 1},
    {"model.layers.3.self_attn.q_norm.weight", {32}, 1, 1, 1},
    {"model.layers.3.self_attn.q_proj.weight", {192, 48}, 2, 1, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {"model.per_layer_model_projection.weight", {32, 48}, 2, 1, 1},
    {"model.per_layer_projection_norm.weight", {8}, 1, 1, 1},
    {0},
};
static const char hf_config_49[] =
    "{\"attention_bias\": false, \"attention_k_eq_v\": false, \"enable_moe_block\": false, \"final_logit_softcap"
    "ping\": 30.0, \"head_dim\": 16, \"hidden_activation\": \"gelu_pytorch_tanh\", \"hidden_size\": 48, \"hidden_si"
    "ze_per_layer_input\": 8, \"intermediate_size\": 40, \"layer_types\": [\"sliding_attention\", \"full_attentio"
    "n\", \"sliding_attention\", \"full_attention\"], \"max_position_embeddings\": 64, \"model_type\": \"gemma4_tex"
    "t\", \"moe_intermediate_size\": null, \"num_attention_heads\": 6, \"num_experts\": null, \"num_hidden_layers"
    "\": 4, \"num_key_value_heads\": 3, \"num_kv_shared_layers\": 2, \"per_layer_config\": {\"1\": {\"head_dim\": 32"
    "}, \"3\": {\"head_dim\": 32}}, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\"full_attention\": {\"partial_ro"
    "tary_factor\": 0.25, \"rope_theta\": 1000000.0, \"rope_type\": \"proportional\"}, \"sliding_attention\": {\"ro"
    "pe_theta\": 10000.0, \"rope_type\": \"default\"}}, \"sliding_window\": 7, \"tie_word_embeddings\": true, \"top"
    "_k_experts\": null, \"use_bidirectional_attention\": null, \"use_double_wide_mlp\": true, \"vocab_size\": 4"
    "0, \"vocab_size_per_layer_input\": 40}";
static const float hf_logits_49[] = {
    4.7826979e-01f, -6.7662299e-01f, -4.9489946e+00f, 3.6591280e-01f, 3.4481134e+00f, 1.2590923e+00f, -2.5972345e+00f, -1.3560596e+00f,
    1.4666221e+00f, 4.0492268e+00f, -2.6075706e-01f, 1.7376534e+00f, -6.8456326e+00f, -2.2345650e+00f, -2.5593681e+00f, -1.8771379e+00f,
    7.2630157e+00f, -3.4904972e-01f, 1.9877006e+00f, -4.8798018e+00f, -2.9315848e+00f, 2.2494943e+00f, -2.0290680e+00f, -1.3753881e+00f,
    4.9334970e-01f, 2.9334381e-01f, -3.1312878e+00f, -1.5365670e+00f, -8.2825508e+00f, 3.2342076e+00f, -3.6155969e-02f, -3.8307922e+00f,
    7.6064821e-03f, 2.9389331e+00f, 3.4587772e+00f, -2.8322957e+00f, 2.8951547e+00f, 4.7180805e+00f, -3.0311108e+00f, -5.1425252e+00f,
};

static const hf_tensor hf_tensors_50[] = {
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.experts.down_proj", {5, 48, 24}, 3, 3, 1},
    {"model.layers.#.experts.gate_up_proj", {5, 48, 48}, 3, 3, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.layer_scalar", {1}, 1, 3, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 3, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 3, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 3, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.post_feedforward_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.post_feedforward_layernorm_1.weight", {48}, 1, 3, 1},
    {"model.layers.#.post_feedforward_layernorm_2.weight", {48}, 1, 3, 1},
    {"model.layers.#.pre_feedforward_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.pre_feedforward_layernorm_2.weight", {48}, 1, 3, 1},
    {"model.layers.#.router.per_expert_scale", {5}, 1, 3, 1},
    {"model.layers.#.router.proj.weight", {5, 48}, 2, 3, 1},
    {"model.layers.#.router.scale", {48}, 1, 3, 1},
    {"model.layers.0.self_attn.k_norm.weight", {16}, 1, 1, 1},
    {"model.layers.0.self_attn.k_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.0.self_attn.o_proj.weight", {48, 96}, 2, 1, 1},
    {"model.layers.0.self_attn.q_norm.weight", {16}, 1, 1, 1},
    {"model.layers.0.self_attn.q_proj.weight", {96, 48}, 2, 1, 1},
    {"model.layers.0.self_attn.v_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.k_norm.weight", {16}, 1, 1, 1},
    {"model.layers.1.self_attn.k_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.o_proj.weight", {48, 96}, 2, 1, 1},
    {"model.layers.1.self_attn.q_norm.weight", {16}, 1, 1, 1},
    {"model.layers.1.self_attn.q_proj.weight", {96, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.v_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.2.self_attn.k_norm.weight", {32}, 1, 1, 1},
    {"model.layers.2.self_attn.k_proj.weight", {32, 48}, 2, 1, 1},
    {"model.layers.2.self_attn.o_proj.weight", {48, 192}, 2, 1, 1},
    {"model.layers.2.self_attn.q_norm.weight", {32}, 1, 1, 1},
    {"model.layers.2.self_attn.q_proj.weight", {192, 48}, 2, 1, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_50[] =
    "{\"attention_bias\": false, \"attention_k_eq_v\": true, \"enable_moe_block\": true, \"final_logit_softcappi"
    "ng\": null, \"head_dim\": 16, \"hidden_activation\": \"gelu_pytorch_tanh\", \"hidden_size\": 48, \"hidden_size"
    "_per_layer_input\": 0, \"intermediate_size\": 40, \"layer_types\": [\"sliding_attention\", \"sliding_attenti"
    "on\", \"full_attention\"], \"max_position_embeddings\": 64, \"model_type\": \"gemma4_text\", \"moe_intermediat"
    "e_size\": 24, \"num_attention_heads\": 6, \"num_experts\": 5, \"num_hidden_layers\": 3, \"num_key_value_head"
    "s\": 3, \"num_kv_shared_layers\": 0, \"per_layer_config\": {\"2\": {\"head_dim\": 32, \"num_key_value_heads\": "
    "1}}, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\"full_attention\": {\"partial_rotary_factor\": 0.25, \"r"
    "ope_theta\": 1000000.0, \"rope_type\": \"proportional\"}, \"sliding_attention\": {\"rope_theta\": 10000.0, \"r"
    "ope_type\": \"default\"}}, \"sliding_window\": 7, \"tie_word_embeddings\": true, \"top_k_experts\": 3, \"use_b"
    "idirectional_attention\": null, \"use_double_wide_mlp\": false, \"vocab_size\": 40, \"vocab_size_per_layer"
    "_input\": 262144}";
static const float hf_logits_50[] = {
    2.4724326e-01f, 3.0105135e+00f, -4.3482277e-01f, -4.9732369e-01f, 1.3670173e+00f, -2.8223114e+00f, 1.6674994e+00f, -1.4009354e+00f,
    3.7300403e+00f, -1.3707271e+00f, 4.1876521e+00f, -2.5859621e+00f, 1.2898967e+00f, -9.8568982e-01f, -2.8454874e+00f, -4.0235338e+00f,
    -9.4821358e-01f, -1.7746366e+00f, 5.4758921e+00f, -1.6203836e+00f, -2.5278025e+00f, 6.3554764e+00f, 4.3501253e+00f, -5.4929423e+00f,
    2.9863737e+00f, 4.2212553e+00f, -2.8623464e+00f, 2.0131495e+00f, 6.6125994e+00f, -2.6080284e+00f, 6.0014516e-01f, -5.1144475e-01f,
    -2.4781911e+00f, -1.5103153e+00f, 5.1378560e+00f, 6.0953581e-01f, 1.8389630e-01f, 7.0104213e+00f, -4.2248621e+00f, 2.0450048e+00f,
};

static const hf_tensor hf_tensors_51[] = {
    {"model.embed_vision.embedding_projection.weight", {48, 8}, 2, 1, 1},
    {"model.language_model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.language_model.embed_tokens_per_layer.weight", {40, 24}, 2, 1, 1},
    {"model.language_model.layers.#.input_layernorm.weight", {48}, 1, 3, 1},
    {"model.language_model.layers.#.layer_scalar", {1}, 1, 3, 1},
    {"model.language_model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 3, 1},
    {"model.language_model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 3, 1},
    {"model.language_model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 3, 1},
    {"model.language_model.layers.#.per_layer_input_gate.weight", {8, 48}, 2, 3, 1},
    {"model.language_model.layers.#.per_layer_projection.weight", {48, 8}, 2, 3, 1},
    {"model.language_model.layers.#.post_attention_layernorm.weight", {48}, 1, 3, 1},
    {"model.language_model.layers.#.post_feedforward_layernorm.weight", {48}, 1, 3, 1},
    {"model.language_model.layers.#.post_per_layer_input_norm.weight", {48}, 1, 3, 1},
    {"model.language_model.layers.#.pre_feedforward_layernorm.weight", {48}, 1, 3, 1},
    {"model.language_model.layers.0.self_attn.k_norm.weight", {16}, 1, 1, 1},
    {"model.language_model.layers.0.self_attn.k_proj.weight", {48, 48}, 2, 1, 1},
    {"model.language_model.layers.0.self_attn.o_proj.weight", {48, 96}, 2, 1, 1},
    {"model.language_model.layers.0.self_attn.q_norm.weight", {16}, 1, 1, 1},
    {"model.language_model.layers.0.self_attn.q_proj.weight", {96, 48}, 2, 1, 1},
    {"model.language_model.layers.0.self_attn.v_proj.weight", {48, 48}, 2, 1, 1},
    {"model.language_model.layers.1.self_attn.k_norm.weight", {16}, 1, 1, 1},
    {"model.language_model.layers.1.self_attn.k_proj.weight", {48, 48}, 2, 1, 1},
    {"model.language_model.layers.1.self_attn.o_proj.weight", {48, 96}, 2, 1, 1},
    {"model.language_model.layers.1.self_attn.q_norm.weight", {16}, 1, 1, 1},
    {"model.language_model.layers.1.self_attn.q_proj.weight", {96, 48}, 2, 1, 1},
    {"model.language_model.layers.1.self_attn.v_proj.weight", {48, 48}, 2, 1, 1},
    {"model.language_model.layers.2.self_attn.k_norm.weight", {32}, 1, 1, 1},
    {"model.language_model.layers.2.self_attn.k_proj.weight", {96, 48}, 2, 1, 1},
    {"model.language_model.layers.2.self_attn.o_proj.weight", {48, 192}, 2, 1, 1},
    {"model.language_model.layers.2.self_attn.q_norm.weight", {32}, 1, 1, 1},
    {"model.language_model.layers.2.self_attn.q_proj.weight", {192, 48}, 2, 1, 1},
    {"model.language_model.layers.2.self_attn.v_proj.weight", {96, 48}, 2, 1, 1},
    {"model.language_model.norm.weight", {48}, 1, 1, 1},
    {"model.language_model.per_layer_model_projection.weight", {24, 48}, 2, 1, 1},
    {"model.language_model.per_layer_projection_norm.weight", {8}, 1, 1, 1},
    {0},
};
static const char hf_config_51[] =
    "{\"model_type\": \"gemma4\", \"text_config\": {\"attention_bias\": false, \"attention_dropout\": 0.0, \"attenti"
    "on_k_eq_v\": false, \"bos_token_id\": 2, \"enable_moe_block\": false, \"eos_token_id\": 1, \"final_logit_sof"
    "tcapping\": null, \"head_dim\": 16, \"hidden_activation\": \"gelu_pytorch_tanh\", \"hidden_size\": 48, \"hidde"
    "n_size_per_layer_input\": 8, \"initializer_range\": 0.02, \"intermediate_size\": 40, \"layer_types\": [\"sli"
    "ding_attention\", \"sliding_attention\", \"full_attention\"], \"max_position_embeddings\": 64, \"model_type\""
    ": \"gemma4_text\", \"moe_intermediate_size\": null, \"num_attention_heads\": 6, \"num_experts\": null, \"num_"
    "hidden_layers\": 3, \"num_key_value_heads\": 3, \"num_kv_shared_layers\": 0, \"pad_token_id\": 0, \"per_laye"
    "r_config\": {\"2\": {\"head_dim\": 32}}, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\"full_attention\": {\"p"
    "artial_rotary_factor\": 0.25, \"rope_theta\": 1000000.0, \"rope_type\": \"proportional\"}, \"sliding_attenti"
    "on\": {\"rope_theta\": 10000.0, \"rope_type\": \"default\"}}, \"sliding_window\": 7, \"tie_word_embeddings\": t"
    "rue, \"top_k_experts\": null, \"use_bidirectional_attention\": null, \"use_cache\": true, \"use_double_wide"
    "_mlp\": false, \"vocab_size\": 40, \"vocab_size_per_layer_input\": 40}, \"tie_word_embeddings\": true}";
static const float hf_logits_51[] = {
    -1.9422796e+00f, -2.4611485e+00f, 1.4117612e+00f, -1.9163028e+00f, 3.9985323e+00f, -4.4929910e+00f, 5.9558620e+00f, 7.2928467e+00f,
    2.2567916e+00f, -3.0072099e-02f, -2.1753062e-01f, 3.5078845e+00f, -3.7252825e-01f, -3.9227219e+00f, -3.1646082e+00f, -4.8631266e-01f,
    -6.2751758e-01f, -9.2853695e-01f, 5.2371597e+00f, -3.1055684e+00f, 1.5553695e+00f, 1.0528812e-01f, 8.5437956e+00f, 4.7808676e+00f,
    -9.5072329e-01f, -7.6215428e-01f, -7.2480845e-01f, 1.1024995e+00f, 5.2233930e+00f, -1.8089544e+00f, 4.1523371e+00f, -4.2820306e+00f,
    -2.7879407e+00f, 4.2276449e+00f, 6.2656670e+00f, -4.1343789e+00f, 1.8197358e+00f, -4.3695450e+00f, -5.2026111e-01f, -6.4118648e-01f,
};

static const hf_tensor hf_tensors_52[] = {
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.layer_scalar", {1}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.post_feedforward_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.pre_feedforward_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.0.self_attn.k_norm.weight", {16}, 1, 1, 1},
    {"model.layers.0.self_attn.k_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.0.self_attn.o_proj.weight", {48, 96}, 2, 1, 1},
    {"model.layers.0.self_attn.q_norm.weight", {16}, 1, 1, 1},
    {"model.layers.0.self_attn.q_proj.weight", {96, 48}, 2, 1, 1},
    {"model.layers.0.self_attn.v_proj.weight", {48, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.k_norm.weight", {32}, 1, 1, 1},
    {"model.layers.1.self_attn.k_proj.weight", {96, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.o_proj.weight", {48, 192}, 2, 1, 1},
    {"model.layers.1.self_attn.q_norm.weight", {32}, 1, 1, 1},
    {"model.layers.1.self_attn.q_proj.weight", {192, 48}, 2, 1, 1},
    {"model.layers.1.self_attn.v_proj.weight", {96, 48}, 2, 1, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_52[] =
    "{\"attention_bias\": false, \"attention_k_eq_v\": false, \"final_logit_softcapping\": null, \"head_dim\": 16"
    ", \"hidden_activation\": \"gelu_pytorch_tanh\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_types"
    "\": [\"sliding_attention\", \"full_attention\"], \"max_position_embeddings\": 64, \"model_type\": \"gemma4_uni"
    "fied_text\", \"num_attention_heads\": 6, \"num_hidden_layers\": 2, \"num_key_value_heads\": 3, \"num_kv_shar"
    "ed_layers\": 0, \"per_layer_config\": {\"1\": {\"head_dim\": 32}}, \"rms_norm_eps\": 1e-06, \"rope_parameters\""
    ": {\"full_attention\": {\"factor\": 2.0, \"partial_rotary_factor\": 0.25, \"rope_theta\": 100.0, \"rope_type\""
    ": \"proportional\"}, \"sliding_attention\": {\"rope_theta\": 10000.0, \"rope_type\": \"default\"}}, \"sliding_w"
    "indow\": 7, \"tie_word_embeddings\": true, \"use_bidirectional_attention\": \"vision\", \"use_double_wide_ml"
    "p\": false, \"vocab_size\": 40}";
static const float hf_logits_52[] = {
    5.2431536e-01f, 3.7878489e+00f, -2.2878406e+00f, -5.9953350e-01f, 1.8227097e+00f, 2.6179330e+00f, -1.6572288e+00f, 2.3946259e+00f,
    1.3111448e-01f, -3.9234109e+00f, 2.4932199e+00f, -3.9979713e+00f, 3.9835725e+00f, 4.2767453e+00f, -1.8259295e+00f, -1.8755897e+00f,
    2.9306378e+00f, -4.3270260e-01f, -1.2981570e+00f, -4.2789900e-01f, 1.2123175e+00f, 2.0338020e+00f, 4.4193940e+00f, 2.6769562e+00f,
    6.2351447e-01f, 7.0032964e+00f, 5.7000935e-01f, 9.2935934e+00f, 1.5757989e+00f, -2.3063519e+00f, 3.7833244e-01f, 5.7319770e+00f,
    -2.9514439e+00f, -9.0709287e-01f, -3.6498406e+00f, -5.3728523e+00f, 1.4019169e-01f, -1.8834960e+00f, 5.2079353e+00f, 4.7264080e+00f,
};

static const hf_case hf_cases[] = {
    {"llama", "BF16", hf_config_0, hf_tensors_0, hf_logits_0},
    {"llama3", "F16", hf_config_1, hf_tensors_1, hf_logits_1},
    {"mistral", "F32", hf_config_2, hf_tensors_2, hf_logits_2},
    {"mixtral", "BF16", hf_config_3, hf_tensors_3, hf_logits_3},
    {"smollm3", "F32", hf_config_4, hf_tensors_4, hf_logits_4},
    {"granite", "BF16", hf_config_5, hf_tensors_5, hf_logits_5},
    {"qwen2", "F16", hf_config_6, hf_tensors_6, hf_logits_6},
    {"qwen3", "BF16", hf_config_7, hf_tensors_7, hf_logits_7},
    {"qwen3_moe", "F32", hf_config_8, hf_tensors_8, hf_logits_8},
    {"gemma", "BF16", hf_config_9, hf_tensors_9, hf_logits_9},
    {"gemma2", "F16", hf_config_10, hf_tensors_10, hf_logits_10},
    {"gemma3_text", "F32", hf_config_11, hf_tensors_11, hf_logits_11},
    {"phi3", "BF16", hf_config_12, hf_tensors_12, hf_logits_12},
    {"phi3 long", "F32", hf_config_13, hf_tensors_13, hf_logits_13},
    {"gemma3", "BF16", hf_config_14, hf_tensors_14, hf_logits_14},
    {"arcee", "F32", hf_config_15, hf_tensors_15, hf_logits_15},
    {"seed_oss", "F16", hf_config_16, hf_tensors_16, hf_logits_16},
    {"qwen2_moe", "BF16", hf_config_17, hf_tensors_17, hf_logits_17},
    {"olmoe", "F16", hf_config_18, hf_tensors_18, hf_logits_18},
    {"olmo", "BF16", hf_config_19, hf_tensors_19, hf_logits_19},
    {"olmo2", "F32", hf_config_20, hf_tensors_20, hf_logits_20},
    {"olmo3", "BF16", hf_config_21, hf_tensors_21, hf_logits_21},
    {"exaone4", "F32", hf_config_22, hf_tensors_22, hf_logits_22},
    {"hunyuan_v1_dense", "BF16", hf_config_23, hf_tensors_23, hf_logits_23},
    {"glm4", "BF16", hf_config_24, hf_tensors_24, hf_logits_24},
    {"cohere", "F16", hf_config_25, hf_tensors_25, hf_logits_25},
    {"cohere2", "F32", hf_config_26, hf_tensors_26, hf_logits_26},
    {"nemotron", "F32", hf_config_27, hf_tensors_27, hf_logits_27},
    {"phi", "F16", hf_config_28, hf_tensors_28, hf_logits_28},
    {"stablelm", "BF16", hf_config_29, hf_tensors_29, hf_logits_29},
    {"stablelm 2", "F16", hf_config_30, hf_tensors_30, hf_logits_30},
    {"starcoder2", "F32", hf_config_31, hf_tensors_31, hf_logits_31},
    {"gpt2", "BF16", hf_config_32, hf_tensors_32, hf_logits_32},
    {"gpt_bigcode", "F32", hf_config_33, hf_tensors_33, hf_logits_33},
    {"bloom", "F16", hf_config_34, hf_tensors_34, hf_logits_34},
    {"gpt_neox", "F16", hf_config_35, hf_tensors_35, hf_logits_35},
    {"falcon 7b", "BF16", hf_config_36, hf_tensors_36, hf_logits_36},
    {"falcon 40b", "F32", hf_config_37, hf_tensors_37, hf_logits_37},
    {"lfm2", "BF16", hf_config_38, hf_tensors_38, hf_logits_38},
    {"lfm2_moe", "F32", hf_config_39, hf_tensors_39, hf_logits_39},
    {"mamba2", "F16", hf_config_40, hf_tensors_40, hf_logits_40},
    {"granitemoehybrid", "BF16", hf_config_41, hf_tensors_41, hf_logits_41},
    {"gpt_oss", "F32", hf_config_42, hf_tensors_42, hf_logits_42},
    {"gpt_oss mxfp4", "BF16", hf_config_43, hf_tensors_43, hf_logits_43},
    {"qwen3_next", "BF16", hf_config_44, hf_tensors_44, hf_logits_44},
    {"jamba", "F32", hf_config_45, hf_tensors_45, hf_logits_45},
    {"qwen3_5_text", "BF16", hf_config_46, hf_tensors_46, hf_logits_46},
    {"qwen3_5_moe_text", "F32", hf_config_47, hf_tensors_47, hf_logits_47},
    {"qwen3_5_moe_text fused", "F16", hf_config_48, hf_tensors_48, hf_logits_48},
    {"gemma4_text", "BF16", hf_config_49, hf_tensors_49, hf_logits_49},
    {"gemma4_text experts", "F32", hf_config_50, hf_tensors_50, hf_logits_50},
    {"gemma4", "F16", hf_config_51, hf_tensors_51, hf_logits_51},
    {"gemma4_unified_text", "F16", hf_config_52, hf_tensors_52, hf_logits_52},
};
enum { HF_VOCABULARY = 40, HF_TOKENS = 24 };
