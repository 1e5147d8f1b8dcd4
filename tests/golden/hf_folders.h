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
static const char hf_config_14[] =
    "{\"attention_bias\": false, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"max_pos"
    "ition_embeddings\": 64, \"model_type\": \"olmo2\", \"num_attention_heads\": 6, \"num_hidden_layers\": 2, \"num"
    "_key_value_heads\": 3, \"rms_norm_eps\": 1e-05, \"rope_parameters\": {\"rope_theta\": 10000.0, \"rope_type\":"
    " \"default\"}, \"tie_word_embeddings\": false, \"vocab_size\": 40}";
static const float hf_logits_14[] = {
    1.7540928e+00f, -6.0070068e-01f, -3.3266187e+00f, 5.0698411e-01f, -5.6020565e+00f, 4.5863981e+00f, 1.0690849e+01f, 4.5928621e+00f,
    -3.2697341e+00f, -3.8313971e+00f, 5.5164685e+00f, 4.2951646e+00f, 1.3440819e+00f, 6.0089536e+00f, -1.8876952e+00f, 3.0059423e+00f,
    5.8534491e-01f, -3.9994919e-01f, -2.5284722e+00f, -4.8031411e-01f, 2.3964398e+00f, 5.3947988e+00f, -1.6879934e+00f, -1.3999374e+00f,
    -5.2634578e+00f, -6.1016381e-03f, 2.9360085e+00f, 5.8038652e-01f, -7.9848566e+00f, 1.1581918e+00f, 3.3178298e+00f, -5.0648718e+00f,
    -1.2107590e+00f, 3.9940474e+00f, 2.0687408e+00f, 2.6882887e+00f, 4.3136352e-01f, 3.4501548e+00f, -2.6740201e+00f, -5.0905514e+00f,
};

static const hf_tensor hf_tensors_15[] = {
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
static const char hf_config_15[] =
    "{\"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_norm_eps\": 1e-05, \"max_pos"
    "ition_embeddings\": 64, \"model_type\": \"stablelm\", \"num_attention_heads\": 6, \"num_hidden_layers\": 2, \""
    "num_key_value_heads\": 3, \"qk_layernorm\": true, \"rope_parameters\": {\"partial_rotary_factor\": 0.5, \"ro"
    "pe_theta\": 10000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\": false, \"use_parallel_residual\": "
    "true, \"use_qkv_bias\": false, \"vocab_size\": 40}";
static const float hf_logits_15[] = {
    -4.5648512e-01f, -2.8066468e+00f, -2.5115952e+00f, 8.0233002e+00f, -3.7221034e+00f, 6.3027854e+00f, 1.9481056e+00f, -8.5485888e-01f,
    1.1994936e+00f, -1.8513495e+00f, 7.0542212e+00f, -2.9171178e+00f, 1.5188890e+00f, 3.2232454e+00f, -4.2874441e+00f, -4.4480515e+00f,
    -9.3612665e-01f, -6.9711280e+00f, -5.4784546e+00f, -2.8768311e+00f, 9.0275335e+00f, 2.9301181e+00f, -3.6580505e+00f, -4.4257884e+00f,
    8.1041241e-01f, -1.7351683e+00f, -1.8222903e-01f, -2.0614009e+00f, 5.6545138e+00f, 2.6619558e+00f, 8.1725655e+00f, -4.1151643e+00f,
    -1.8602475e+00f, 5.5442822e-01f, 2.3808231e+00f, 2.9227128e+00f, -9.3223530e-01f, -7.0926762e+00f, -6.4414382e-01f, -3.2863133e+00f,
};

static const hf_tensor hf_tensors_16[] = {
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
static const char hf_config_16[] =
    "{\"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_norm_eps\": 1e-05, \"max_pos"
    "ition_embeddings\": 64, \"model_type\": \"stablelm\", \"num_attention_heads\": 6, \"num_hidden_layers\": 2, \""
    "num_key_value_heads\": 3, \"qk_layernorm\": false, \"rope_parameters\": {\"partial_rotary_factor\": 0.25, \""
    "rope_theta\": 10000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\": false, \"use_parallel_residual\""
    ": false, \"use_qkv_bias\": true, \"vocab_size\": 40}";
static const float hf_logits_16[] = {
    1.5045568e-01f, -3.2878580e+00f, -2.1573520e+00f, 7.4962091e+00f, -3.8591099e+00f, 6.4746084e+00f, 1.7860831e+00f, -1.8277942e+00f,
    1.8375041e+00f, -1.8530958e+00f, 6.4567280e+00f, -2.8723662e+00f, 1.3358525e+00f, 2.5118127e+00f, -3.9444947e+00f, -4.2469988e+00f,
    -9.9812394e-01f, -7.3810563e+00f, -5.7450361e+00f, -2.8600359e+00f, 8.5126247e+00f, 2.6483088e+00f, -3.5998645e+00f, -3.4591689e+00f,
    1.4493870e+00f, -1.9478606e+00f, -7.1800214e-01f, -1.6315132e+00f, 5.2285638e+00f, 1.8824387e+00f, 8.3774147e+00f, -4.3359909e+00f,
    -1.2189993e+00f, 3.9314353e-01f, 2.1948466e+00f, 2.5739632e+00f, -1.2237027e-01f, -7.0790968e+00f, 5.3328365e-02f, -3.4457810e+00f,
};

static const hf_tensor hf_tensors_17[] = {
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
static const char hf_config_17[] =
    "{\"hidden_act\": \"gelu_pytorch_tanh\", \"hidden_size\": 48, \"intermediate_size\": 40, \"max_position_embedd"
    "ings\": 64, \"model_type\": \"starcoder2\", \"norm_epsilon\": 1e-05, \"num_attention_heads\": 6, \"num_hidden_"
    "layers\": 2, \"num_key_value_heads\": 3, \"rope_parameters\": {\"rope_theta\": 10000.0, \"rope_type\": \"defau"
    "lt\"}, \"sliding_window\": 7, \"tie_word_embeddings\": false, \"use_bias\": true, \"vocab_size\": 40}";
static const float hf_logits_17[] = {
    -1.9178461e+00f, -2.9953220e+00f, -1.3374579e+00f, 6.8894715e+00f, -4.3729548e+00f, 4.3994622e+00f, 1.1252813e+00f, -3.0495436e+00f,
    3.1106770e+00f, 1.0684035e+00f, 6.5969968e+00f, -3.6166880e+00f, -2.1401107e+00f, 1.4525384e+00f, -1.7113096e+00f, -3.8881018e+00f,
    3.4159911e-01f, -7.3514585e+00f, -4.4646063e+00f, -4.5459700e+00f, 8.1836128e+00f, 7.4719799e-01f, -3.9178166e+00f, 1.5456213e+00f,
    3.5400283e+00f, -3.1381521e+00f, -3.5396659e+00f, 6.5222585e-01f, 4.9021506e+00f, 2.4454651e+00f, 9.8740568e+00f, -4.7305446e+00f,
    6.7751002e-01f, -2.8490260e+00f, 2.0593462e+00f, -1.3545586e+00f, 2.1796310e+00f, -9.4498520e+00f, 1.0106903e+00f, -5.2284555e+00f,
};

static const hf_tensor hf_tensors_18[] = {
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
static const char hf_config_18[] =
    "{\"activation_function\": \"gelu_new\", \"layer_norm_epsilon\": 1e-05, \"model_type\": \"gpt2\", \"n_embd\": 48,"
    " \"n_head\": 3, \"n_inner\": null, \"n_layer\": 2, \"n_positions\": 64, \"reorder_and_upcast_attn\": false, \"s"
    "cale_attn_by_inverse_layer_idx\": false, \"scale_attn_weights\": true, \"tie_word_embeddings\": true, \"vo"
    "cab_size\": 40}";
static const float hf_logits_18[] = {
    2.6645035e-01f, 1.0003763e+01f, -1.9743592e+00f, -3.4067185e+00f, -2.8639405e+00f, 8.6401176e+00f, -5.6968780e+00f, -1.6918130e+00f,
    -4.9075322e+00f, -4.9928737e+00f, 3.8985479e+00f, -2.2611239e+00f, -6.9599423e+00f, -5.2811370e+00f, 2.4908166e+00f, -3.4148216e+00f,
    -4.2641754e+00f, -3.2291174e+00f, -3.1483686e+00f, 3.6190019e+00f, -1.9461980e+00f, -1.7305923e+00f, -7.8328123e+00f, -2.7477124e+00f,
    -2.2421188e+00f, 4.4523702e+00f, 6.1172419e+00f, 3.3547571e+00f, 1.4846851e+00f, 4.7167940e+00f, 6.4187198e+00f, -3.9866867e+00f,
    -4.3252382e+00f, -1.6158427e+00f, 6.6486472e-01f, 9.1594677e+00f, 7.9387027e-01f, 4.8423076e+00f, -3.9248095e+00f, -1.1417149e+00f,
};

static const hf_tensor hf_tensors_19[] = {
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
static const char hf_config_19[] =
    "{\"attention_bias\": true, \"hidden_act\": \"gelu_new\", \"hidden_size\": 48, \"intermediate_size\": 40, \"laye"
    "r_norm_eps\": 1e-05, \"max_position_embeddings\": 64, \"model_type\": \"gpt_neox\", \"num_attention_heads\": "
    "6, \"num_hidden_layers\": 2, \"rope_parameters\": {\"partial_rotary_factor\": 0.25, \"rope_theta\": 10000.0,"
    " \"rope_type\": \"default\"}, \"tie_word_embeddings\": false, \"use_parallel_residual\": true, \"vocab_size\":"
    " 40}";
static const float hf_logits_19[] = {
    8.0988817e+00f, 8.4387189e-01f, 2.9539113e+00f, 9.2031708e+00f, 4.4698942e-01f, 3.1491113e+00f, 2.2978041e-01f, -5.6642547e+00f,
    -1.1042869e+00f, -1.1700136e+01f, -8.7021275e+00f, 3.3735998e+00f, 5.2356000e+00f, -6.4330578e+00f, -8.0039924e-01f, 4.3225541e+00f,
    5.4082580e+00f, -3.2301047e+00f, 5.1812019e+00f, 4.9143651e-01f, 7.6415330e-01f, 2.3810401e+00f, 9.2932920e+00f, -5.3976173e+00f,
    -1.0648514e+00f, 1.8057220e+00f, 1.3438692e+00f, 7.3502934e-01f, 8.4799534e-01f, -2.9415505e+00f, -2.6872611e+00f, -1.8076017e+00f,
    1.6776612e+00f, -4.9004207e+00f, -3.4687545e+00f, 2.1281447e-02f, -3.3465366e+00f, 4.2259402e+00f, -1.8093106e+00f, -2.4803448e+00f,
};

static const hf_tensor hf_tensors_20[] = {
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
static const char hf_config_20[] =
    "{\"activation\": \"gelu_pytorch_tanh\", \"alibi\": false, \"bias\": false, \"ffn_hidden_size\": 192, \"hidden_s"
    "ize\": 48, \"layer_norm_epsilon\": 1e-05, \"max_position_embeddings\": 2048, \"model_type\": \"falcon\", \"mul"
    "ti_query\": true, \"new_decoder_architecture\": false, \"num_attention_heads\": 6, \"num_hidden_layers\": 2"
    ", \"num_kv_heads\": 6, \"num_ln_in_parallel_attn\": null, \"parallel_attn\": true, \"rope_parameters\": {\"ro"
    "pe_theta\": 10000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\": true, \"vocab_size\": 40}";
static const float hf_logits_20[] = {
    -3.1228018e+00f, 2.2073206e+01f, -4.3904057e+00f, -3.2514238e+00f, -5.3445035e-01f, -2.2926099e+00f, 4.5918937e+00f, 5.6147580e+00f,
    1.5806288e-01f, 3.9856896e+00f, 2.1587541e+00f, 4.7090735e+00f, 1.2409112e+00f, 9.5044279e+00f, -4.2236104e+00f, 7.9976077e+00f,
    -4.0859398e-01f, 1.7256209e+00f, 4.1267829e+00f, 2.8373857e+00f, -3.7962070e+00f, 9.2186433e-01f, -1.5725101e+00f, -1.7866838e+00f,
    2.5106118e+00f, -8.0756092e+00f, -2.0922375e+00f, -6.9958991e-01f, -3.8762024e-01f, 2.7511578e+00f, -4.2781153e+00f, 4.9978304e+00f,
    5.2993536e+00f, -4.8410892e+00f, -5.6777840e+00f, 2.8550007e+00f, 4.3597894e+00f, 4.3437138e-01f, -5.5639329e+00f, -4.3160276e+00f,
};

static const hf_tensor hf_tensors_21[] = {
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
static const char hf_config_21[] =
    "{\"activation\": \"gelu_pytorch_tanh\", \"alibi\": false, \"bias\": false, \"ffn_hidden_size\": 192, \"hidden_s"
    "ize\": 48, \"layer_norm_epsilon\": 1e-05, \"max_position_embeddings\": 2048, \"model_type\": \"falcon\", \"mul"
    "ti_query\": true, \"new_decoder_architecture\": true, \"num_attention_heads\": 6, \"num_hidden_layers\": 2,"
    " \"num_kv_heads\": 3, \"num_ln_in_parallel_attn\": 2, \"parallel_attn\": true, \"rope_parameters\": {\"rope_t"
    "heta\": 10000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\": true, \"vocab_size\": 40}";
static const float hf_logits_21[] = {
    -2.5928974e+00f, 2.2308384e+01f, -5.5660543e+00f, -4.2566991e+00f, -1.3564475e-01f, -2.5009279e+00f, 4.0448055e+00f, 4.7438083e+00f,
    1.0714066e+00f, 5.2417507e+00f, 1.3454980e+00f, 4.2900400e+00f, 1.9476520e+00f, 9.6701374e+00f, -4.7502337e+00f, 7.3248348e+00f,
    -1.7305683e+00f, 2.3567677e+00f, 5.1720634e+00f, 2.9273653e+00f, -3.8581095e+00f, 1.7686851e+00f, -6.0395747e-01f, -1.4446684e+00f,
    2.5442209e+00f, -7.5110369e+00f, -3.2469847e+00f, -9.8496860e-01f, -1.9163332e+00f, 3.4377952e+00f, -4.7838464e+00f, 3.9575007e+00f,
    6.2791982e+00f, -4.8628297e+00f, -4.5164218e+00f, 2.0833666e+00f, 5.6125374e+00f, -7.9227841e-01f, -5.0146093e+00f, -4.5042338e+00f,
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
    {"olmo2", "F32", hf_config_14, hf_tensors_14, hf_logits_14},
    {"stablelm", "BF16", hf_config_15, hf_tensors_15, hf_logits_15},
    {"stablelm 2", "F16", hf_config_16, hf_tensors_16, hf_logits_16},
    {"starcoder2", "F32", hf_config_17, hf_tensors_17, hf_logits_17},
    {"gpt2", "BF16", hf_config_18, hf_tensors_18, hf_logits_18},
    {"gpt_neox", "F16", hf_config_19, hf_tensors_19, hf_logits_19},
    {"falcon 7b", "BF16", hf_config_20, hf_tensors_20, hf_logits_20},
    {"falcon 40b", "F32", hf_config_21, hf_tensors_21, hf_logits_21},
};
enum { HF_VOCABULARY = 40, HF_TOKENS = 24 };
