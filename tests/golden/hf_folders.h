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
    -1.8612761e+00f, -3.5829692e+00f, -6.8325579e-01f, 6.6088214e+00f, -6.3930917e+00f, 6.9004064e+00f, 5.6383628e-01f, -4.0731554e+00f,
    1.8705145e+00f, -1.2309906e+00f, 4.2779713e+00f, -1.1466608e+00f, -1.4972210e+00f, -3.6178417e+00f, -3.8108943e+00f, -1.1269085e+00f,
    -1.3769784e+00f, -4.3447118e+00f, -6.4912252e+00f, -1.8540020e+00f, 6.2141194e+00f, 2.6723020e+00f, -2.9266117e+00f, -6.7062631e-02f,
    4.1130815e+00f, -4.8083510e+00f, -9.0855390e-01f, -3.8630557e-01f, 4.2529807e+00f, -1.3676976e+00f, 8.1376419e+00f, -2.7488494e+00f,
    -7.4743068e-01f, 3.5845533e-01f, 2.2086606e+00f, -2.5008900e+00f, 1.0655744e+00f, -3.3208511e+00f, 1.7133456e+00f, -5.0749006e+00f,
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
    3.0752561e+00f, 2.8696545e+01f, -2.7714896e+00f, -3.1785795e-01f, -2.9276597e+00f, 1.0568612e-02f, -2.8832510e-02f, 3.8050103e+00f,
    1.8282674e-01f, 5.1217155e+00f, -3.2869637e+00f, 5.3622353e-01f, 1.9137253e+00f, -4.7060485e+00f, -2.0961351e+00f, 1.8965372e+00f,
    -2.1052136e+00f, -1.1554919e+00f, -3.1691343e-02f, 6.4284458e+00f, -4.2179070e+00f, 1.1066374e+00f, 8.3995104e+00f, 1.8345658e+00f,
    7.1994096e-01f, 5.7956734e+00f, -1.4182659e+00f, 4.4633074e+00f, -4.8266712e-01f, -1.9912852e+00f, 1.1486937e+00f, 2.3076007e+00f,
    -3.0459232e+00f, -5.3913677e-01f, -5.0277786e+00f, -3.6506588e+00f, 2.0814903e+00f, -5.3009276e+00f, -3.2963552e+00f, 2.1465237e+00f,
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
    -3.0921237e+00f, 2.7595685e+00f, -3.4812171e+00f, 1.0745761e+01f, 1.6570549e+00f, 1.3935170e+00f, -1.8226048e+00f, -1.3451597e-01f,
    1.2036259e+00f, -2.7897875e+00f, 6.5099401e+00f, -2.4907824e-01f, -7.0109296e+00f, 4.8345385e+00f, 1.0911342e+00f, -7.1138458e+00f,
    4.8985577e+00f, -2.2137837e+00f, 3.4165518e+00f, -6.8292313e+00f, 1.3008592e+00f, 2.0718861e-01f, -2.9913348e-01f, -5.3697791e+00f,
    2.4816864e+00f, -8.3829051e-01f, 1.7555126e+00f, -3.3542118e+00f, 4.5962787e+00f, -7.5032592e-01f, 6.8340664e+00f, -2.7074041e+00f,
    2.3042703e+00f, -4.4505414e-01f, 5.1390963e+00f, 2.8332096e-01f, -1.4952104e+00f, -2.5284481e+00f, 5.6779730e-01f, -4.0801806e+00f,
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
    -1.1494615e+00f, -1.2799743e+00f, -7.1668243e-01f, 8.6602669e+00f, -5.3685479e+00f, 5.4070420e+00f, 1.6074303e+00f, -1.8666015e+00f,
    2.6834702e+00f, -1.2819358e+00f, 6.9135528e+00f, -2.7229078e+00f, 1.1117857e+00f, 1.6699525e+00f, -2.0880210e+00f, -3.6554430e+00f,
    -1.6622330e-01f, -6.3809094e+00f, -4.5392108e+00f, -4.9572678e+00f, 7.8502374e+00f, 3.1935146e+00f, -3.4096878e+00f, -3.4210343e+00f,
    2.8835833e+00f, -1.7406223e+00f, -1.8915548e+00f, -3.3019447e+00f, 5.7548966e+00f, 1.4776541e+00f, 8.9125576e+00f, -4.0878196e+00f,
    -2.3169701e-01f, 8.1183964e-01f, 1.5734104e+00f, 2.3478270e+00f, -8.2627553e-01f, -7.0218697e+00f, -1.6315699e-01f, -3.0251145e+00f,
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
    1.4880168e+00f, 2.8119547e+01f, -2.6951544e+00f, -1.3449069e+00f, -3.1274240e+00f, 7.2511598e-02f, -1.1808302e+00f, 3.6260233e+00f,
    1.3266423e-01f, 4.9817057e+00f, -1.9140141e+00f, 1.3424013e+00f, 1.8845942e+00f, -4.0037298e+00f, -1.6495183e+00f, 2.1488070e-01f,
    -1.7805123e+00f, -1.2535065e+00f, 1.3279767e-01f, 6.2879972e+00f, -4.0463910e+00f, 1.6669034e+00f, 9.0384321e+00f, 2.1978509e+00f,
    -1.2506324e-01f, 5.6280766e+00f, -1.1233641e+00f, 4.2152662e+00f, 1.4445411e-01f, -2.1203668e+00f, 1.9010950e+00f, 1.7556739e+00f,
    -2.6932526e+00f, -1.3549900e-01f, -5.3611574e+00f, -3.7185740e+00f, 1.8542042e+00f, -5.3856807e+00f, -3.1375673e+00f, 1.6597829e+00f,
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
    -2.0444286e-01f, -2.1038613e+00f, -9.9834371e-01f, 7.5838003e+00f, -4.2885141e+00f, 5.3104906e+00f, 1.4202892e+00f, -2.1284308e+00f,
    2.8390560e+00f, -1.7549256e+00f, 5.9086800e+00f, -1.9939578e+00f, 1.8567779e+00f, 2.6109869e+00f, -3.3522260e+00f, -4.0110164e+00f,
    -3.2373124e-01f, -6.3837357e+00f, -5.8275003e+00f, -3.6658218e+00f, 7.5479741e+00f, 3.3713520e+00f, -3.2658863e+00f, -3.6947920e+00f,
    2.1594415e+00f, -1.1662120e+00f, -1.4871482e+00f, -2.8743079e+00f, 5.7467761e+00f, 1.6559569e+00f, 8.2692871e+00f, -3.5140078e+00f,
    -3.0890685e-01f, 1.3290820e+00f, 1.5342499e+00f, 1.7320589e+00f, 1.3026455e-01f, -6.1817088e+00f, -7.8311600e-02f, -2.9727972e+00f,
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
    5.0396771e+00f, 2.2795202e+01f, -3.1449902e+00f, 1.0084321e+00f, 2.1895518e+00f, -4.1121122e-01f, 1.4262015e+00f, -3.3759012e+00f,
    2.2811210e+00f, -1.5482625e+00f, -4.3082991e+00f, 1.2915286e+00f, 2.9355443e-01f, -2.5147429e+00f, -2.5551775e+00f, 3.8927109e+00f,
    2.7145753e+00f, -3.7986067e-01f, -5.8276904e-01f, 2.9592984e+00f, -4.8573561e+00f, 1.4413888e+00f, 9.3274488e+00f, 3.5525050e+00f,
    5.4269862e+00f, 3.4357157e+00f, -2.4858711e+00f, 3.7750535e+00f, 7.5491667e-01f, 2.6938860e+00f, -9.2200077e-01f, -1.8128891e-01f,
    -4.4215913e+00f, 1.5492144e+00f, -1.9412279e+00f, -2.1352930e+00f, 7.3970556e-01f, -4.5600147e+00f, -3.1697800e+00f, 4.1995314e-01f,
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
    -1.6930774e+00f, -2.0097023e-01f, -1.2683111e+00f, 7.2838717e+00f, -3.0659444e+00f, 3.3249636e+00f, 2.1255243e+00f, -2.3862722e+00f,
    2.1876061e+00f, -1.9193882e+00f, 5.8216872e+00f, -3.2774282e+00f, 2.5146599e+00f, 2.2077408e+00f, -1.3351535e+00f, -4.6451187e+00f,
    1.4621301e-01f, -4.1405697e+00f, -5.6834683e+00f, -6.0787792e+00f, 6.5161090e+00f, 2.7932265e+00f, -3.6369317e+00f, -3.2049646e+00f,
    3.4103255e+00f, -7.1823031e-01f, -1.9365325e+00f, -4.3724718e+00f, 6.8459558e+00f, 1.3984040e+00f, 8.5879183e+00f, -3.3188605e+00f,
    -1.6093680e+00f, -1.0227354e-01f, 2.2064021e+00f, 1.9814911e+00f, -9.6319187e-01f, -6.6654348e+00f, -4.9971658e-01f, -3.2514887e+00f,
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
    -2.7142050e+00f, -1.3748225e+00f, -1.9275638e+00f, 8.3343811e+00f, -3.6350265e+00f, 4.5424228e+00f, 7.2631598e-01f, -1.7338093e-01f,
    1.1099582e-01f, -1.3928249e+00f, 7.9696259e+00f, -3.4699059e+00f, 1.1862910e+00f, 1.3741570e+00f, -5.1377028e-01f, -4.7432818e+00f,
    -6.5241390e-01f, -3.7409267e+00f, -4.7182641e+00f, -4.7519488e+00f, 7.9240494e+00f, 1.6102172e+00f, -2.4739366e+00f, -3.0217156e+00f,
    -7.0109326e-01f, 1.6101821e-01f, -2.6915925e+00f, -4.7536550e+00f, 7.6390672e+00f, 1.0297416e+00f, 7.0437932e+00f, -2.1142354e+00f,
    -9.8940361e-01f, 1.2094177e+00f, 1.5311263e+00f, 3.6760061e+00f, -2.6765749e+00f, -6.3787780e+00f, -6.8984598e-01f, -3.2255318e+00f,
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
    -2.6866567e+00f, -1.6455646e+00f, -1.9388649e+00f, 8.3464689e+00f, -3.8561563e+00f, 4.4869084e+00f, 1.5471973e+00f, -1.4064789e+00f,
    7.8277135e-01f, -9.9780196e-01f, 7.5138297e+00f, -2.3491263e+00f, 1.9929942e+00f, 7.0283276e-01f, -1.6184355e+00f, -2.9464929e+00f,
    -6.1378831e-01f, -4.8335681e+00f, -4.3147326e+00f, -5.0793285e+00f, 7.5669818e+00f, 2.0583396e+00f, -3.5152998e+00f, -2.5441935e+00f,
    7.9609340e-01f, -3.9762717e-01f, -2.3277221e+00f, -4.0509400e+00f, 7.4768734e+00f, 1.2452768e+00f, 8.3284626e+00f, -3.4505556e+00f,
    -7.9239726e-01f, 7.2656184e-01f, 2.2554522e+00f, 2.9467304e+00f, -2.5836995e+00f, -7.0983305e+00f, -3.0970550e-01f, -3.4799156e+00f,
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
    -5.9833221e-02f, -1.7906148e+00f, -1.8575867e+00f, 9.0113945e+00f, -5.6221642e+00f, 5.7158165e+00f, 1.9513868e+00f, -2.1005800e+00f,
    1.9306480e+00f, -6.1613959e-01f, 5.5887384e+00f, -1.1887436e+00f, 1.6165607e+00f, 1.9984275e+00f, -2.1620193e+00f, -3.5611391e+00f,
    -1.5572490e-01f, -5.9800868e+00f, -4.6766171e+00f, -3.7007265e+00f, 8.6977110e+00f, 4.6524458e+00f, -3.8072250e+00f, -4.3032236e+00f,
    1.9471713e+00f, 1.2190706e-01f, -1.4968728e+00f, -3.7353513e+00f, 6.1008053e+00f, 2.7313175e+00f, 9.0459881e+00f, -4.3840485e+00f,
    7.3519570e-01f, 5.9762287e-01f, 1.6245543e+00f, 3.8561168e+00f, -2.7494347e-01f, -6.9749231e+00f, -1.5306101e+00f, -3.0026131e+00f,
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
    -7.6790124e-01f, -1.5093936e+00f, -6.7937571e-01f, 8.1251335e+00f, -5.3090014e+00f, 4.2279205e+00f, 2.1296246e+00f, -2.5378141e+00f,
    2.5557554e+00f, -1.4786975e+00f, 6.4392204e+00f, -2.2659585e+00f, 1.5994226e+00f, 1.9790409e+00f, -1.9256871e+00f, -3.2378032e+00f,
    6.9889866e-02f, -6.2231741e+00f, -4.9911261e+00f, -5.0276647e+00f, 7.2304306e+00f, 3.4502110e+00f, -3.2305367e+00f, -3.1863892e+00f,
    2.3303282e+00f, -9.2904782e-01f, -1.6579051e+00f, -3.4977281e+00f, 5.6430421e+00f, 1.1966418e+00f, 8.9341650e+00f, -4.5669289e+00f,
    -5.0835890e-01f, 6.4851379e-01f, 1.5809453e+00f, 2.5928953e+00f, -3.1708464e-01f, -6.6851034e+00f, 1.2993501e-01f, -3.2795117e+00f,
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
    -1.3777262e+00f, -9.8757964e-01f, -1.5695148e+00f, 8.8651667e+00f, -5.3822870e+00f, 4.5695963e+00f, 2.0144942e+00f, -2.3817844e+00f,
    1.8088369e+00f, -8.0141807e-01f, 6.8010774e+00f, -1.5658776e+00f, 6.2289256e-01f, 2.2241971e+00f, -2.3580666e+00f, -3.5584047e+00f,
    9.2788821e-01f, -5.9244785e+00f, -4.5297141e+00f, -5.1327438e+00f, 7.5843801e+00f, 4.5641694e+00f, -3.5049713e+00f, -3.9880083e+00f,
    2.3285046e+00f, -2.0797806e+00f, -1.2515720e+00f, -3.5306206e+00f, 5.3859711e+00f, 2.8476918e-01f, 9.7241116e+00f, -5.3239083e+00f,
    -8.3342820e-01f, 1.9921312e-01f, 1.4724976e+00f, 2.8061502e+00f, -4.6859232e-01f, -6.9050255e+00f, -7.9118478e-01f, -4.0259061e+00f,
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
    -1.5711175e+00f, -1.1106272e+00f, -2.7588458e+00f, 7.7068553e+00f, -2.8163700e+00f, 5.7122846e+00f, 1.4050816e+00f, -3.4079466e+00f,
    1.0845186e+00f, -1.0155983e-01f, 5.9865928e+00f, -1.2957044e+00f, 2.7339876e+00f, 1.6127882e+00f, -2.6007726e+00f, -3.5844262e+00f,
    -7.9377711e-01f, -4.9639268e+00f, -5.7191982e+00f, -3.4275458e+00f, 8.5611696e+00f, 3.2733774e+00f, -4.5267935e+00f, -2.8978543e+00f,
    7.0700514e-01f, -1.6470181e+00f, -8.5731941e-01f, -3.3444557e+00f, 5.1514268e+00f, 2.6172278e+00f, 9.9780598e+00f, -3.3369734e+00f,
    -1.4218141e+00f, 1.5506235e-01f, 2.7740173e+00f, 2.5452890e+00f, 7.7006596e-01f, -8.0031652e+00f, -4.5548791e-01f, -4.0829186e+00f,
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
    1.7540926e+00f, -6.0070097e-01f, -3.3266199e+00f, 5.0698477e-01f, -5.6020594e+00f, 4.5863981e+00f, 1.0690848e+01f, 4.5928617e+00f,
    -3.2697344e+00f, -3.8313982e+00f, 5.5164671e+00f, 4.2951617e+00f, 1.3440821e+00f, 6.0089498e+00f, -1.8876935e+00f, 3.0059431e+00f,
    5.8534145e-01f, -3.9994770e-01f, -2.5284712e+00f, -4.8031250e-01f, 2.3964422e+00f, 5.3947954e+00f, -1.6879946e+00f, -1.3999361e+00f,
    -5.2634583e+00f, -6.1016218e-03f, 2.9360065e+00f, 5.8038670e-01f, -7.9848557e+00f, 1.1581917e+00f, 3.3178303e+00f, -5.0648727e+00f,
    -1.2107594e+00f, 3.9940441e+00f, 2.0687389e+00f, 2.6882894e+00f, 4.3136308e-01f, 3.4501526e+00f, -2.6740198e+00f, -5.0905504e+00f,
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
    -3.8504964e-01f, 3.2470053e-01f, 1.6265205e+00f, 1.1694360e+00f, -8.0584602e+00f, 1.3871961e+00f, -1.7439057e+00f, -6.6922998e-01f,
    6.3496545e-02f, -3.0869168e-01f, 5.8421302e+00f, 4.8034266e-01f, 4.2837474e-01f, 1.3821142e+00f, -4.0276880e+00f, -3.1786916e+00f,
    4.4181042e+00f, -6.0034466e+00f, 3.1786222e+00f, -1.2595296e+00f, 4.8696690e+00f, 6.4354867e-01f, -4.7537200e-02f, -3.5138805e+00f,
    2.0845032e+00f, -8.9071493e+00f, 3.4581296e+00f, 2.8215430e+00f, -5.4530597e+00f, 1.0905130e+00f, 5.2622595e+00f, 1.6717932e+00f,
    5.9142962e+00f, -3.0688554e-01f, -1.4345720e+00f, -6.7859554e+00f, -5.9131384e-02f, -4.0714049e+00f, -2.7237675e-01f, 3.2724657e+00f,
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
    5.2472458e+00f, -5.6073624e-01f, -2.0909917e+00f, 1.5891660e+00f, -5.4580126e+00f, 1.8693408e+00f, 7.5918326e+00f, 3.1775875e+00f,
    -2.9098470e+00f, -4.8727736e+00f, 4.9605581e-01f, 3.6334658e+00f, -2.7177885e+00f, 7.7132044e+00f, -6.4666224e+00f, 2.2712948e+00f,
    1.0501356e+00f, -1.1295689e+00f, -2.9583631e+00f, 2.2112846e+00f, 3.6963737e+00f, 6.3676152e+00f, 9.6786875e-01f, -4.4709601e+00f,
    -5.6433620e+00f, -1.8650433e-01f, 7.1065278e+00f, 3.1244526e+00f, -6.6186585e+00f, 2.2366769e+00f, -9.5792967e-01f, -5.6480479e+00f,
    5.1192921e-01f, 5.8318710e+00f, 2.8843549e-01f, 3.3479795e+00f, -2.2753859e+00f, 5.9778748e+00f, -4.7366996e+00f, -4.3381786e+00f,
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
    1.2996064e+00f, 1.4143440e+01f, -1.4039719e+00f, 6.2560338e-01f, -1.3888747e+00f, -5.0304615e-01f, 8.0940075e-02f, 1.8199500e+00f,
    2.4489474e-02f, 2.5656569e+00f, -1.7735554e+00f, 3.4395012e-01f, 7.5076807e-01f, -2.2510185e+00f, -1.0393075e+00f, 1.0130733e+00f,
    -1.0704633e+00f, -1.1923162e+00f, 3.1258196e-01f, 3.4696815e+00f, -1.6105506e+00f, 7.6761797e-02f, 3.5346775e+00f, 6.9025886e-01f,
    4.2771545e-01f, 3.1177330e+00f, 1.5148489e-01f, 2.0104854e+00f, -9.2330709e-02f, -1.8393552e-01f, 7.5233388e-01f, 9.0775806e-01f,
    -1.5725895e+00f, 1.6100600e-01f, -2.7486849e+00f, -1.5907569e+00f, 9.2268085e-01f, -2.1402729e+00f, -2.1984148e+00f, 1.0288905e+00f,
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
    1.1512920e+00f, 1.3455191e+01f, -1.2885646e+00f, 8.6120009e-01f, -7.4253011e-01f, -3.8104469e-01f, -8.3157115e-02f, 9.5599282e-01f,
    2.4127899e-01f, 1.4855115e+00f, -2.5669962e-01f, 1.0782386e+00f, 5.7423437e-01f, -2.4618065e+00f, -1.3597826e+00f, -3.9688459e-01f,
    -7.6361990e-01f, -1.2001234e+00f, 1.0146823e+00f, 2.0345728e+00f, -2.0511026e+00f, 2.4195895e-01f, 4.0720816e+00f, -8.3214611e-01f,
    7.8916356e-02f, 2.8783832e+00f, 6.7767900e-01f, 1.5444127e+00f, 3.8827613e-01f, 4.8398313e-01f, 6.3115531e-01f, 2.1740764e-01f,
    -1.4580665e+00f, 9.0000367e-01f, -1.6086042e+00f, -1.8493819e+00f, 2.8942037e-01f, -1.3536719e+00f, -3.1916280e+00f, 9.9753475e-01f,
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
    8.4257107e+00f, -8.0572166e+00f, -9.3351536e+00f, 1.9417879e+01f, -1.3302835e+01f, 1.4693660e+01f, 9.8095598e+00f, -3.3918138e+00f,
    3.0005128e+00f, -3.1756372e+00f, 4.0999122e+00f, -6.0588020e-01f, 4.1153159e+00f, 5.7429523e+00f, 7.9461642e-02f, -4.9809270e+00f,
    -4.2478991e+00f, -1.3873964e+01f, -6.9943705e+00f, -7.4141283e+00f, 1.7057808e+01f, 1.1760562e+01f, -3.5345798e+00f, -1.2123889e+01f,
    -2.1244786e+00f, 7.3535028e+00f, -2.2645936e+00f, -8.0782995e+00f, 1.0125635e+01f, 9.9902229e+00f, 1.2638345e+01f, -1.3754821e+01f,
    2.3109457e+00f, 8.4494460e-01f, 7.3246126e+00f, 1.7966604e+01f, 4.2715406e+00f, -1.3025199e+01f, -1.2432956e+01f, -4.1641917e+00f,
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
    -6.4586878e-01f, -3.0805378e+00f, -2.2820375e+00f, 5.2980847e+00f, -3.9044290e+00f, 5.2109089e+00f, 3.2023036e+00f, -2.3851221e+00f,
    1.9471960e-01f, -2.6643639e+00f, 4.5024381e+00f, -8.4106779e-01f, 1.7569273e+00f, -1.0823766e+00f, -2.3686888e+00f, -2.4765902e+00f,
    -1.4927647e+00f, -6.3812976e+00f, -5.2385201e+00f, -3.9379559e+00f, 3.4893215e+00f, 9.1136503e-01f, -1.6146859e+00f, -5.0827742e+00f,
    2.8885245e-02f, -1.3868202e+00f, -2.6003923e+00f, -9.3081868e-01f, 4.5619254e+00f, 2.8445885e+00f, 1.0536155e+01f, -2.4320993e+00f,
    -7.9837042e-01f, -4.3498927e-01f, 1.1715209e+00f, 3.0474432e+00f, 1.6656554e+00f, -6.8027911e+00f, 1.7008467e+00f, -4.8615160e+00f,
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
    -4.5648506e-01f, -2.8066466e+00f, -2.5115955e+00f, 8.0233002e+00f, -3.7221034e+00f, 6.3027849e+00f, 1.9481056e+00f, -8.5485864e-01f,
    1.1994939e+00f, -1.8513495e+00f, 7.0542207e+00f, -2.9171183e+00f, 1.5188897e+00f, 3.2232463e+00f, -4.2874436e+00f, -4.4480510e+00f,
    -9.3612653e-01f, -6.9711280e+00f, -5.4784546e+00f, -2.8768313e+00f, 9.0275335e+00f, 2.9301181e+00f, -3.6580505e+00f, -4.4257879e+00f,
    8.1041205e-01f, -1.7351675e+00f, -1.8222867e-01f, -2.0614009e+00f, 5.6545138e+00f, 2.6619563e+00f, 8.1725664e+00f, -4.1151638e+00f,
    -1.8602477e+00f, 5.5442798e-01f, 2.3808234e+00f, 2.9227128e+00f, -9.3223518e-01f, -7.0926757e+00f, -6.4414328e-01f, -3.2863131e+00f,
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
    1.5045443e-01f, -3.2878585e+00f, -2.1573515e+00f, 7.4962091e+00f, -3.8591099e+00f, 6.4746084e+00f, 1.7860829e+00f, -1.8277932e+00f,
    1.8375046e+00f, -1.8530962e+00f, 6.4567285e+00f, -2.8723664e+00f, 1.3358516e+00f, 2.5118120e+00f, -3.9444952e+00f, -4.2469993e+00f,
    -9.9812376e-01f, -7.3810568e+00f, -5.7450361e+00f, -2.8600359e+00f, 8.5126247e+00f, 2.6483083e+00f, -3.5998650e+00f, -3.4591684e+00f,
    1.4493874e+00f, -1.9478617e+00f, -7.1800220e-01f, -1.6315123e+00f, 5.2285638e+00f, 1.8824384e+00f, 8.3774147e+00f, -4.3359900e+00f,
    -1.2189993e+00f, 3.9314365e-01f, 2.1948469e+00f, 2.5739617e+00f, -1.2237000e-01f, -7.0790968e+00f, 5.3329289e-02f, -3.4457808e+00f,
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
    -1.9178473e+00f, -2.9953222e+00f, -1.3374581e+00f, 6.8894725e+00f, -4.3729553e+00f, 4.3994622e+00f, 1.1252818e+00f, -3.0495436e+00f,
    3.1106775e+00f, 1.0684032e+00f, 6.5969968e+00f, -3.6166885e+00f, -2.1401119e+00f, 1.4525374e+00f, -1.7113092e+00f, -3.8881016e+00f,
    3.4159839e-01f, -7.3514576e+00f, -4.4646063e+00f, -4.5459709e+00f, 8.1836138e+00f, 7.4719787e-01f, -3.9178157e+00f, 1.5456213e+00f,
    3.5400281e+00f, -3.1381524e+00f, -3.5396659e+00f, 6.5222597e-01f, 4.9021506e+00f, 2.4454651e+00f, 9.8740568e+00f, -4.7305455e+00f,
    6.7750978e-01f, -2.8490262e+00f, 2.0593464e+00f, -1.3545594e+00f, 2.1796305e+00f, -9.4498520e+00f, 1.0106901e+00f, -5.2284565e+00f,
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
    2.6645011e-01f, 1.0003762e+01f, -1.9743584e+00f, -3.4067180e+00f, -2.8639402e+00f, 8.6401176e+00f, -5.6968780e+00f, -1.6918132e+00f,
    -4.9075317e+00f, -4.9928737e+00f, 3.8985479e+00f, -2.2611239e+00f, -6.9599419e+00f, -5.2811379e+00f, 2.4908164e+00f, -3.4148223e+00f,
    -4.2641764e+00f, -3.2291183e+00f, -3.1483681e+00f, 3.6190023e+00f, -1.9461980e+00f, -1.7305918e+00f, -7.8328109e+00f, -2.7477119e+00f,
    -2.2421186e+00f, 4.4523702e+00f, 6.1172428e+00f, 3.3547578e+00f, 1.4846846e+00f, 4.7167940e+00f, 6.4187198e+00f, -3.9866867e+00f,
    -4.3252387e+00f, -1.6158427e+00f, 6.6486496e-01f, 9.1594687e+00f, 7.9387075e-01f, 4.8423071e+00f, -3.9248090e+00f, -1.1417154e+00f,
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
    -2.3036442e+00f, 2.1749517e+01f, -4.4276261e+00f, 9.1733927e-01f, -1.0696648e+00f, -1.4301604e+00f, 4.8162284e+00f, 2.5624235e+00f,
    1.9596443e+00f, 5.9637976e+00f, 1.0479918e+00f, 2.8165929e+00f, 2.9766121e+00f, 5.5194263e+00f, -2.8034704e+00f, 8.8197651e+00f,
    -6.5798141e-02f, 2.1746073e+00f, 2.6809998e+00f, 3.8479900e+00f, -4.2321577e+00f, 6.7474240e-01f, -3.2124782e+00f, -1.7543467e+00f,
    5.7865973e+00f, -6.9045486e+00f, 9.2837882e-01f, 2.3301950e+00f, 4.7477153e-01f, 3.9594934e+00f, -4.0368729e+00f, 4.3766952e+00f,
    2.5885766e+00f, -5.5856490e+00f, 1.0402650e+00f, 1.8643719e-01f, 6.1400399e+00f, 1.3857433e+00f, -1.5976077e+00f, -4.1415215e+00f,
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
    8.0988817e+00f, 8.4387195e-01f, 2.9539120e+00f, 9.2031708e+00f, 4.4698942e-01f, 3.1491108e+00f, 2.2978039e-01f, -5.6642537e+00f,
    -1.1042873e+00f, -1.1700137e+01f, -8.7021275e+00f, 3.3736000e+00f, 5.2356014e+00f, -6.4330578e+00f, -8.0039865e-01f, 4.3225541e+00f,
    5.4082584e+00f, -3.2301047e+00f, 5.1812024e+00f, 4.9143666e-01f, 7.6415384e-01f, 2.3810403e+00f, 9.2932920e+00f, -5.3976178e+00f,
    -1.0648514e+00f, 1.8057224e+00f, 1.3438689e+00f, 7.3502916e-01f, 8.4799510e-01f, -2.9415507e+00f, -2.6872611e+00f, -1.8076016e+00f,
    1.6776611e+00f, -4.9004197e+00f, -3.4687550e+00f, 2.1281427e-02f, -3.3465376e+00f, 4.2259402e+00f, -1.8093100e+00f, -2.4803448e+00f,
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
    -3.1228013e+00f, 2.2073206e+01f, -4.3904052e+00f, -3.2514238e+00f, -5.3445059e-01f, -2.2926099e+00f, 4.5918932e+00f, 5.6147594e+00f,
    1.5806276e-01f, 3.9856894e+00f, 2.1587539e+00f, 4.7090740e+00f, 1.2409103e+00f, 9.5044241e+00f, -4.2236114e+00f, 7.9976077e+00f,
    -4.0859404e-01f, 1.7256210e+00f, 4.1267829e+00f, 2.8373861e+00f, -3.7962070e+00f, 9.2186445e-01f, -1.5725101e+00f, -1.7866836e+00f,
    2.5106106e+00f, -8.0756083e+00f, -2.0922370e+00f, -6.9958931e-01f, -3.8761982e-01f, 2.7511575e+00f, -4.2781148e+00f, 4.9978313e+00f,
    5.2993526e+00f, -4.8410873e+00f, -5.6777844e+00f, 2.8549993e+00f, 4.3597889e+00f, 4.3437162e-01f, -5.5639319e+00f, -4.3160276e+00f,
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
    -2.5928969e+00f, 2.2308382e+01f, -5.5660548e+00f, -4.2566996e+00f, -1.3564499e-01f, -2.5009279e+00f, 4.0448050e+00f, 4.7438083e+00f,
    1.0714060e+00f, 5.2417498e+00f, 1.3454982e+00f, 4.2900400e+00f, 1.9476520e+00f, 9.6701374e+00f, -4.7502337e+00f, 7.3248339e+00f,
    -1.7305685e+00f, 2.3567672e+00f, 5.1720638e+00f, 2.9273648e+00f, -3.8581097e+00f, 1.7686851e+00f, -6.0395747e-01f, -1.4446683e+00f,
    2.5442209e+00f, -7.5110359e+00f, -3.2469842e+00f, -9.8496860e-01f, -1.9163327e+00f, 3.4377954e+00f, -4.7838464e+00f, 3.9574997e+00f,
    6.2791982e+00f, -4.8628292e+00f, -4.5164223e+00f, 2.0833666e+00f, 5.6125369e+00f, -7.9227865e-01f, -5.0146093e+00f, -4.5042338e+00f,
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
    -5.7487602e+00f, -3.2573318e+00f, 2.2831702e+00f, 1.2953281e+01f, -1.0310895e+01f, -3.1254759e-01f, 4.9561529e+00f, 4.8886638e+00f,
    -2.1871703e+00f, 4.8825707e+00f, 7.5940733e+00f, 8.1832819e+00f, 1.2091252e+01f, 1.0014503e+01f, -3.7998221e+00f, -1.0354664e+01f,
    -1.2841588e+00f, -1.0307013e+01f, -1.2518985e+01f, -2.6143312e+00f, 5.5595393e+00f, 1.1837679e+01f, -8.5517788e+00f, -1.3246332e+01f,
    4.3537817e+00f, 3.8360682e+00f, -2.6158993e+00f, -2.1735834e+01f, 1.2956281e+01f, 2.1737711e+00f, 6.0133748e+00f, -5.4083924e+00f,
    2.0287186e-01f, 6.8249846e+00f, -1.4467847e+00f, 7.0161967e+00f, -5.6247252e-01f, -1.2390928e+01f, 2.4614732e+00f, -4.0605879e+00f,
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
    -8.8134232e+00f, -2.5681231e+00f, -9.2484283e-01f, 2.1648449e+01f, -6.7500906e+00f, 3.5394701e-01f, 2.0963781e+00f, 2.9660101e+00f,
    -3.7147381e+00f, 3.7361193e-02f, 1.2369727e+01f, 4.3931613e+00f, 8.4248772e+00f, 1.4166604e+00f, -5.9265685e+00f, -9.8870974e+00f,
    -4.7429857e+00f, -1.0371152e+01f, -1.0609241e+01f, -1.1845617e+00f, 1.4092669e+01f, 1.1605679e+01f, -1.5394320e+01f, -1.1997583e+01f,
    -7.4908781e-01f, 2.0210371e+00f, -1.6793276e+00f, -1.6099812e+01f, 1.5352581e+01f, 5.4397969e+00f, 1.0390239e+01f, -7.0651474e+00f,
    -2.8439469e+00f, 2.0706079e+00f, 2.0247562e+00f, 8.3126812e+00f, -4.1227608e+00f, -1.2877893e+01f, -1.8633718e+00f, -8.3959751e+00f,
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

static const hf_tensor hf_tensors_53[] = {
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
static const char hf_config_53[] =
    "{\"attention_bias\": true, \"head_dim\": 16, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size"
    "\": 40, \"layer_types\": [\"full_attention\", \"sliding_attention\", \"sliding_attention\"], \"max_position_em"
    "beddings\": 64, \"model_type\": \"gpt_oss\", \"num_attention_heads\": 6, \"num_experts_per_tok\": 3, \"num_hid"
    "den_layers\": 3, \"num_key_value_heads\": 3, \"num_local_experts\": 5, \"rms_norm_eps\": 1e-05, \"rope_param"
    "eters\": {\"beta_fast\": 4.0, \"factor\": 4.0, \"original_max_position_embeddings\": 16, \"rope_theta\": 1000"
    "0.0, \"rope_type\": \"yarn\", \"truncate\": false}, \"sliding_window\": 7, \"swiglu_alpha\": 1.702, \"swiglu_li"
    "mit\": 7.0, \"tie_word_embeddings\": false, \"vocab_size\": 40}";
static const float hf_logits_53[] = {
    -1.1027023e+00f, -8.8569987e-01f, 3.9532492e-01f, 3.5858855e+00f, -6.0362067e+00f, 2.3236194e+00f, 3.0075464e+00f, -2.8184688e+00f,
    5.1007497e-01f, -2.7093649e+00f, 7.6448083e+00f, -2.7441554e+00f, 1.4945422e+00f, 3.3620529e+00f, -3.3244723e-01f, -3.7297285e+00f,
    2.4102643e-01f, -7.4653373e+00f, -3.9263134e+00f, -6.2486157e+00f, 6.1197934e+00f, -9.9999464e-01f, -3.3036494e+00f, -3.5123253e+00f,
    2.6904855e+00f, -1.4881825e-01f, -3.3278027e+00f, -3.1063285e+00f, 5.5570302e+00f, 1.6406091e+00f, 6.6715131e+00f, -3.6784208e+00f,
    7.0100462e-01f, 1.9937962e+00f, -6.8613815e-01f, 3.5091737e-01f, -1.9006081e+00f, -5.5324020e+00f, 3.3047518e-01f, -7.7757025e-01f,
};

static const hf_tensor hf_tensors_54[] = {
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 3, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 3, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 3, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.post_feedforward_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.pre_feedforward_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.self_attn.k_proj.weight", {16, 48}, 2, 3, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 96}, 2, 3, 1},
    {"model.layers.#.self_attn.q_proj.weight", {96, 48}, 2, 3, 1},
    {"model.layers.#.self_attn.v_proj.weight", {16, 48}, 2, 3, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_54[] =
    "{\"attention_bias\": false, \"attn_logit_softcapping\": 2.0, \"final_logit_softcapping\": null, \"head_dim\""
    ": 16, \"hidden_activation\": \"gelu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_types\": [\"full"
    "_attention\", \"sliding_attention\", \"sliding_attention\"], \"max_position_embeddings\": 64, \"model_type\":"
    " \"gemma2\", \"num_attention_heads\": 6, \"num_hidden_layers\": 3, \"num_key_value_heads\": 1, \"query_pre_at"
    "tn_scalar\": 24, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\"rope_theta\": 10000.0, \"rope_type\": \"defa"
    "ult\"}, \"sliding_window\": 5, \"tie_word_embeddings\": true, \"use_bidirectional_attention\": null, \"vocab"
    "_size\": 40}";
static const float hf_logits_54[] = {
    3.9264205e+00f, 2.6345127e+01f, -4.6731329e+00f, -6.9641504e+00f, 8.4045868e+00f, -4.2930074e+00f, 5.0796041e+00f, -1.3939494e+01f,
    -7.3115125e+00f, 3.4855661e+00f, -1.6650609e+00f, 9.9890013e+00f, 5.5065722e+00f, -1.5424793e+00f, -2.7223971e+00f, 1.2263774e+01f,
    -8.5399141e+00f, -6.0874596e+00f, -4.1550417e+00f, 1.6146832e+01f, -1.8591756e+00f, -3.5917220e+00f, 1.4500501e+01f, -3.5827830e+00f,
    -4.0608764e+00f, 1.4756920e+01f, -1.3208762e+01f, 8.1163855e+00f, 2.0583143e+00f, -1.0341877e+01f, -3.8154596e-01f, 3.8428261e+00f,
    6.5137434e-01f, 1.0517568e+01f, -9.7823173e-01f, -1.4161995e+01f, 1.0573878e+01f, 3.3473036e+00f, -3.2810230e+00f, 4.8120513e+00f,
};

static const hf_tensor hf_tensors_55[] = {
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 3, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 3, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 3, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.post_feedforward_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.pre_feedforward_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.self_attn.k_norm.weight", {16}, 1, 3, 1},
    {"model.layers.#.self_attn.k_proj.weight", {48, 48}, 2, 3, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 96}, 2, 3, 1},
    {"model.layers.#.self_attn.q_norm.weight", {16}, 1, 3, 1},
    {"model.layers.#.self_attn.q_proj.weight", {96, 48}, 2, 3, 1},
    {"model.layers.#.self_attn.v_proj.weight", {48, 48}, 2, 3, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_55[] =
    "{\"attention_bias\": false, \"attn_logit_softcapping\": null, \"final_logit_softcapping\": 3.0, \"head_dim\""
    ": 16, \"hidden_activation\": \"gelu_pytorch_tanh\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_t"
    "ypes\": [\"sliding_attention\", \"full_attention\", \"full_attention\"], \"max_position_embeddings\": 64, \"mo"
    "del_type\": \"gemma3_text\", \"num_attention_heads\": 6, \"num_hidden_layers\": 3, \"num_key_value_heads\": 3"
    ", \"query_pre_attn_scalar\": 9, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\"full_attention\": {\"factor\""
    ": 2.0, \"rope_theta\": 500.0, \"rope_type\": \"linear\"}, \"sliding_attention\": {\"rope_theta\": 50.0, \"rope_"
    "type\": \"default\"}}, \"sliding_window\": 5, \"tie_word_embeddings\": true, \"use_bidirectional_attention\":"
    " false, \"vocab_size\": 40}";
static const float hf_logits_55[] = {
    1.9439819e+00f, 3.0000000e+00f, -2.3280449e+00f, 2.5069971e+00f, 2.7586086e+00f, 7.3526484e-01f, 2.9969261e+00f, 2.9957452e+00f,
    2.3839619e+00f, -4.2284784e-01f, -9.2046773e-01f, 2.9897828e+00f, 2.9810877e+00f, 4.1368037e-01f, -2.9669099e+00f, -1.9913542e+00f,
    -2.8511450e+00f, 2.9998629e+00f, 6.6450214e-01f, 2.9999609e+00f, -2.9992642e+00f, -2.9989474e+00f, 2.8330126e+00f, 2.1860764e+00f,
    2.9483881e+00f, 2.9996400e+00f, -1.0210688e+00f, 2.9995983e+00f, -2.7850263e+00f, -2.4605889e+00f, 1.6347103e+00f, 2.9968555e+00f,
    -2.8091302e+00f, -2.6952674e+00f, -2.9863768e+00f, -2.9824026e+00f, 2.8607271e+00f, -2.7214177e+00f, -2.9959121e+00f, 2.9911904e+00f,
};

static const hf_tensor hf_tensors_56[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
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
static const char hf_config_56[] =
    "{\"head_dim\": 16, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"max_position_emb"
    "eddings\": 64, \"model_type\": \"ministral3\", \"num_attention_heads\": 6, \"num_hidden_layers\": 2, \"num_key"
    "_value_heads\": 3, \"rms_norm_eps\": 1e-05, \"rope_parameters\": {\"factor\": 4.0, \"llama_4_scaling_beta\": "
    "0.1, \"mscale\": 1.0, \"mscale_all_dim\": 1.0, \"original_max_position_embeddings\": 8, \"rope_theta\": 1000"
    "0.0, \"rope_type\": \"yarn\"}, \"sliding_window\": null, \"tie_word_embeddings\": false, \"vocab_size\": 40}";
static const float hf_logits_56[] = {
    -1.4257048e+00f, -4.9493480e-01f, -1.9642398e+00f, 6.8101597e+00f, -3.6134045e+00f, 5.5536671e+00f, 1.4220959e+00f, -2.5051942e+00f,
    2.0423453e+00f, -1.3858308e+00f, 5.2368546e+00f, -1.8690156e+00f, 2.3181458e+00f, 1.4659053e+00f, -2.9993153e+00f, -3.4491224e+00f,
    -3.7852040e-01f, -4.4237881e+00f, -5.9427767e+00f, -4.3265228e+00f, 7.0991688e+00f, 3.5623858e+00f, -3.3662140e+00f, -3.6743972e+00f,
    2.8213990e+00f, -1.5614564e+00f, -1.8596045e+00f, -3.8839545e+00f, 6.1114635e+00f, 1.8017956e+00f, 7.9235411e+00f, -3.0034180e+00f,
    -6.1063039e-01f, 8.3911294e-01f, 1.6648598e+00f, 1.8695552e+00f, -8.4855390e-01f, -5.7872491e+00f, -3.9247167e-01f, -3.1818533e+00f,
};

static const hf_tensor hf_tensors_57[] = {
    {"embed_out.weight", {40, 48}, 2, 1, 1},
    {"gpt_neox.embed_in.weight", {40, 48}, 2, 1, 1},
    {"gpt_neox.final_layer_norm.bias", {48}, 1, 1, 1},
    {"gpt_neox.final_layer_norm.weight", {48}, 1, 1, 1},
    {"gpt_neox.layers.#.attention.dense.weight", {48, 48}, 2, 2, 1},
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
static const char hf_config_57[] =
    "{\"attention_bias\": false, \"hidden_act\": \"gelu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_n"
    "orm_eps\": 0.01, \"max_position_embeddings\": 64, \"model_type\": \"gpt_neox\", \"num_attention_heads\": 6, \""
    "num_hidden_layers\": 2, \"rope_parameters\": {\"partial_rotary_factor\": 0.5, \"rope_theta\": 10000.0, \"rop"
    "e_type\": \"default\"}, \"tie_word_embeddings\": false, \"use_parallel_residual\": false, \"vocab_size\": 40}";
static const float hf_logits_57[] = {
    8.1501884e+00f, 1.8368204e+00f, 3.1575270e+00f, 9.8115196e+00f, 2.5733823e-01f, 4.7918544e+00f, -1.5951796e-02f, -4.7848749e+00f,
    -1.2775463e-01f, -1.0924558e+01f, -7.0978055e+00f, 4.0605736e+00f, 5.3095970e+00f, -5.1679106e+00f, -1.3068571e+00f, 2.6193011e+00f,
    4.5311918e+00f, -2.8373134e+00f, 5.9833102e+00f, -1.6524720e-01f, 4.1398028e-01f, 4.2409143e+00f, 9.1439142e+00f, -5.8450379e+00f,
    3.9499633e-02f, 1.0391364e+00f, 9.7072434e-01f, 7.1096754e-01f, 1.4158043e+00f, -1.4084260e+00f, -3.2721617e+00f, -2.2394307e+00f,
    7.6716876e-01f, -4.8138156e+00f, -1.6624173e+00f, -2.6460247e+00f, -3.5165262e+00f, 4.5422716e+00f, -8.4630333e-02f, -2.7316306e+00f,
};

static const hf_tensor hf_tensors_58[] = {
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
    {"model.layers.#.self_attn.k_proj.weight", {20, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 120}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {120, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {20, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_58[] =
    "{\"attention_bias\": false, \"head_dim\": 20, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_siz"
    "e\": 40, \"max_position_embeddings\": 64, \"mlp_bias\": true, \"model_type\": \"llama\", \"num_attention_heads"
    "\": 6, \"num_hidden_layers\": 2, \"num_key_value_heads\": 1, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\""
    "beta_fast\": 2.0, \"factor\": 4.0, \"mscale\": 0.5, \"mscale_all_dim\": 2.0, \"original_max_position_embeddi"
    "ngs\": 16, \"rope_theta\": 10000.0, \"rope_type\": \"yarn\", \"truncate\": null}, \"tie_word_embeddings\": fals"
    "e, \"vocab_size\": 40}";
static const float hf_logits_58[] = {
    -1.6604799e+00f, -1.3535627e+00f, -1.4842538e+00f, 7.9644699e+00f, -4.0215054e+00f, 6.4187350e+00f, 8.8949889e-01f, -2.3976734e+00f,
    3.3475745e+00f, -1.2982157e+00f, 5.9170756e+00f, -2.4572062e+00f, 1.1747752e+00f, 1.1877995e+00f, -2.2075894e+00f, -3.2131939e+00f,
    -1.2306429e+00f, -5.2129388e+00f, -5.8384714e+00f, -3.6599112e+00f, 5.9979038e+00f, 4.9461241e+00f, -1.5063596e+00f, -4.3724771e+00f,
    2.0557961e+00f, -1.0275081e+00f, -4.8820049e-01f, -4.0166416e+00f, 4.8716812e+00f, 1.5286944e+00f, 8.0934210e+00f, -3.1170437e+00f,
    4.8403493e-01f, 1.1418076e+00f, 2.2525110e+00f, 5.4550219e-01f, -2.0959492e+00f, -3.8470109e+00f, 5.7480419e-01f, -3.7263312e+00f,
};

static const hf_tensor hf_tensors_59[] = {
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
static const char hf_config_59[] =
    "{\"attention_bias\": false, \"head_dim\": 8, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size"
    "\": 40, \"max_position_embeddings\": 64, \"mlp_bias\": false, \"model_type\": \"llama\", \"num_attention_heads"
    "\": 6, \"num_hidden_layers\": 2, \"num_key_value_heads\": 3, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\""
    "factor\": 2.0, \"long_factor\": [1.5, 1.75, 2.0, 2.25], \"original_max_position_embeddings\": 16, \"rope_t"
    "heta\": 10000.0, \"rope_type\": \"longrope\", \"short_factor\": [1.0, 1.125, 1.25, 1.375]}, \"tie_word_embed"
    "dings\": false, \"vocab_size\": 40}";
static const float hf_logits_59[] = {
    -6.2483048e-01f, -1.6472993e+00f, -1.2835267e+00f, 8.3223076e+00f, -4.3798556e+00f, 5.7841167e+00f, 1.0402380e+00f, -1.8656898e+00f,
    2.7269573e+00f, -1.1515861e+00f, 5.9402666e+00f, -2.1516151e+00f, 1.7605602e+00f, 2.1851323e+00f, -3.2896640e+00f, -4.0041895e+00f,
    8.7473966e-02f, -5.9286547e+00f, -5.4859161e+00f, -3.6140103e+00f, 7.9007015e+00f, 3.6943495e+00f, -3.6277735e+00f, -3.6516504e+00f,
    2.4332719e+00f, -1.4097650e+00f, -1.2780050e+00f, -3.1707714e+00f, 5.5711102e+00f, 1.7267219e+00f, 8.3603439e+00f, -3.3401101e+00f,
    -1.8466253e-02f, 1.2232093e+00f, 1.6105886e+00f, 1.5021820e+00f, -3.7869170e-01f, -6.2134514e+00f, -1.2219437e-01f, -2.8516300e+00f,
};

static const hf_tensor hf_tensors_60[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 3, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 3, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 3, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.post_feedforward_layernorm.weight", {48}, 1, 3, 1},
    {"model.layers.#.self_attn.k_norm.weight", {24}, 1, 3, 1},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 3, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 3, 1},
    {"model.layers.#.self_attn.q_norm.weight", {48}, 1, 3, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 3, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 3, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_60[] =
    "{\"attention_bias\": false, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_t"
    "ypes\": [\"full_attention\", \"sliding_attention\", \"full_attention\"], \"max_position_embeddings\": 64, \"mo"
    "del_type\": \"olmo3\", \"num_attention_heads\": 6, \"num_hidden_layers\": 3, \"num_key_value_heads\": 3, \"rms"
    "_norm_eps\": 1e-05, \"rope_parameters\": {\"full_attention\": {\"attention_factor\": 1.5, \"factor\": 4.0, \"o"
    "riginal_max_position_embeddings\": 16, \"rope_theta\": 10000.0, \"rope_type\": \"yarn\"}, \"sliding_attentio"
    "n\": {\"rope_theta\": 10000.0, \"rope_type\": \"default\"}}, \"sliding_window\": 7, \"tie_word_embeddings\": fa"
    "lse, \"vocab_size\": 40}";
static const float hf_logits_60[] = {
    -1.9236401e+00f, -5.6326294e+00f, -3.0262759e+00f, 5.8494334e+00f, -4.2703757e+00f, -1.9674659e-01f, -7.6148729e+00f, -2.6563654e+00f,
    -3.4857624e+00f, -1.0680173e+01f, 5.6804752e+00f, -2.1779699e+00f, -1.9544735e+00f, -4.4101319e+00f, -9.8363132e+00f, -1.3767847e+00f,
    -7.6367944e-01f, -5.9928012e+00f, -1.1968325e+00f, 2.3804660e+00f, 8.8739604e-01f, 3.2109067e+00f, -2.2709761e+00f, -3.3686328e+00f,
    9.7918761e-01f, -6.3526406e+00f, 2.4623551e+00f, 7.3781532e-01f, -6.4336783e-01f, -2.5858893e+00f, -1.5267326e+00f, -6.0702419e+00f,
    6.3121810e+00f, -5.1622605e+00f, -1.9969213e+00f, -5.0150785e+00f, -5.1323104e+00f, -1.3407925e+00f, 3.7672243e+00f, 1.6793503e+00f,
};

static const hf_tensor hf_tensors_61[] = {
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.bias", {48}, 1, 2, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.c_fc.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.c_proj.weight", {48, 40}, 2, 2, 1},
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
static const char hf_config_61[] =
    "{\"hidden_act\": \"gelu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"max_position_embeddings\": 64, \"m"
    "odel_type\": \"starcoder2\", \"norm_epsilon\": 0.01, \"num_attention_heads\": 6, \"num_hidden_layers\": 2, \"n"
    "um_key_value_heads\": 3, \"rope_parameters\": {\"rope_theta\": 10000.0, \"rope_type\": \"default\"}, \"sliding"
    "_window\": null, \"tie_word_embeddings\": true, \"use_bias\": false, \"vocab_size\": 40}";
static const float hf_logits_61[] = {
    4.5400734e+00f, 2.6821527e+01f, -3.1768386e+00f, 1.9066471e+00f, -2.0332191e+00f, 5.3431284e-01f, -3.6532629e-01f, 4.4839139e+00f,
    -2.9994333e-01f, 5.1554112e+00f, -4.5099411e+00f, -3.2399371e-02f, -8.1698626e-01f, -4.8008165e+00f, -1.4439665e-01f, -4.2615783e-01f,
    -2.1900041e+00f, -3.3326828e+00f, 3.5994663e+00f, 5.6937790e+00f, -1.7896296e+00f, 1.5733402e+00f, 5.9515052e+00f, 2.1387996e-01f,
    1.8559875e+00f, 3.3745506e+00f, 1.6536393e+00f, 3.2125728e+00f, -1.9153626e+00f, 1.5063345e+00f, -2.8464326e-01f, 8.8538241e-01f,
    -2.3918409e+00f, -3.6404830e-01f, -3.1078207e+00f, -2.4262288e+00f, 2.4740665e+00f, -4.2299490e+00f, -4.8419695e+00f, 6.8952107e-01f,
};

static const hf_tensor hf_tensors_62[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_norm.weight", {32}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.bias", {96}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {96, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 192}, 2, 2, 1},
    {"model.layers.#.self_attn.q_norm.weight", {32}, 1, 2, 1},
    {"model.layers.#.self_attn.q_proj.bias", {192}, 1, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {192, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.bias", {96}, 1, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {96, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_62[] =
    "{\"attention_bias\": true, \"head_dim\": 32, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size"
    "\": 40, \"layer_types\": [\"full_attention\", \"full_attention\"], \"max_position_embeddings\": 64, \"max_wind"
    "ow_layers\": 28, \"model_type\": \"qwen3\", \"num_attention_heads\": 6, \"num_hidden_layers\": 2, \"num_key_va"
    "lue_heads\": 3, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\"factor\": 2.5, \"rope_theta\": 500.0, \"rope_"
    "type\": \"linear\"}, \"sliding_window\": null, \"tie_word_embeddings\": false, \"use_sliding_window\": false,"
    " \"vocab_size\": 40}";
static const float hf_logits_62[] = {
    -2.7820315e+00f, -2.6322153e+00f, -7.4158800e-01f, 7.6825957e+00f, -3.7903359e+00f, 5.4883294e+00f, 9.1944528e-01f, -4.8643870e+00f,
    1.6365886e+00f, -1.1510601e+00f, 7.0243592e+00f, -1.9273856e+00f, 7.6297289e-01f, -4.3750912e-01f, -2.2856314e+00f, -5.4242949e+00f,
    -1.3064660e+00f, -4.8119869e+00f, -3.5944405e+00f, -5.4858675e+00f, 6.6675992e+00f, 2.3617535e+00f, -2.8042743e+00f, -2.4935961e+00f,
    1.6888690e+00f, -2.5994027e+00f, -3.7746787e-01f, -4.4380116e+00f, 3.5786564e+00f, 4.3363565e-01f, 8.0264587e+00f, -1.6778373e+00f,
    -8.7330240e-01f, 5.0575930e-01f, 4.7006149e+00f, 2.3500566e+00f, -6.2695843e-01f, -7.3222952e+00f, 3.2012370e-01f, -5.6699519e+00f,
};

static const hf_tensor hf_tensors_63[] = {
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.bias", {24}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.bias", {24}, 1, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_63[] =
    "{\"attention_bias\": true, \"attention_multiplier\": 1.0, \"embedding_multiplier\": 1.0, \"hidden_act\": \"si"
    "lu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"logits_scaling\": 1.0, \"max_position_embeddings\": 6"
    "4, \"mlp_bias\": false, \"model_type\": \"granite\", \"num_attention_heads\": 6, \"num_hidden_layers\": 2, \"nu"
    "m_key_value_heads\": 3, \"residual_multiplier\": 1.0, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\"rope_"
    "theta\": 10000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\": true, \"vocab_size\": 40}";
static const float hf_logits_63[] = {
    3.1839066e+00f, 2.8059576e+01f, -4.5354438e+00f, 1.1110700e+00f, -2.2395141e+00f, -2.8880721e-01f, 6.3106567e-01f, 3.8883357e+00f,
    7.5308633e-01f, 6.1866975e+00f, -2.8281486e+00f, -1.6737878e+00f, 2.0885119e+00f, -6.6531110e+00f, -1.6765614e+00f, 1.9049677e+00f,
    -2.9070587e+00f, -2.8438029e+00f, -2.1914263e-01f, 5.6909666e+00f, -3.4735227e+00f, 2.0325150e+00f, 8.0019121e+00f, 3.2050002e+00f,
    1.6433383e+00f, 6.2088137e+00f, -1.5962367e+00f, 3.1972528e+00f, 7.4996048e-01f, -2.0195100e+00f, 1.2720296e+00f, 1.4919952e+00f,
    -1.5280992e+00f, -7.5489461e-01f, -3.6925375e+00f, -4.2499223e+00f, 1.9948491e+00f, -5.2000170e+00f, -3.5463295e+00f, 1.2701259e+00f,
};

static const hf_tensor hf_tensors_64[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_up_proj.weight", {80, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.qkv_proj.weight", {144, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_64[] =
    "{\"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"max_position_embeddings\": 64, \"m"
    "odel_type\": \"phi3\", \"num_attention_heads\": 3, \"num_hidden_layers\": 2, \"num_key_value_heads\": 3, \"ori"
    "ginal_max_position_embeddings\": 4096, \"rms_norm_eps\": 1e-05, \"rope_parameters\": {\"partial_rotary_fac"
    "tor\": 0.5, \"rope_theta\": 500.0, \"rope_type\": \"default\"}, \"sliding_window\": null, \"tie_word_embedding"
    "s\": false, \"vocab_size\": 40}";
static const float hf_logits_64[] = {
    -2.3727403e+00f, -1.7932421e+00f, -2.4660907e+00f, 7.6252198e+00f, -3.9743788e+00f, 5.1608086e+00f, 1.4433192e+00f, -2.3470700e+00f,
    1.2696940e+00f, -1.3566968e+00f, 6.0610442e+00f, -2.2958789e+00f, 2.6097870e+00f, 2.6581954e-02f, -1.9912463e+00f, -1.4015930e+00f,
    -1.0034533e+00f, -3.5202742e+00f, -4.4471917e+00f, -4.6002579e+00f, 6.8471766e+00f, 3.1762187e+00f, -3.7993357e+00f, -1.6553664e+00f,
    2.4074836e+00f, -5.3874773e-01f, -3.4021904e+00f, -4.2286987e+00f, 6.3249288e+00f, 5.2047509e-01f, 9.8770256e+00f, -4.3188281e+00f,
    -9.2149067e-01f, -1.5455848e-01f, 1.8241042e+00f, 2.2220263e+00f, -1.4724822e+00f, -7.2049284e+00f, 1.3490266e-01f, -4.0171299e+00f,
};

static const hf_tensor hf_tensors_65[] = {
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.k_proj.bias", {24}, 1, 2, 1},
    {"model.layers.#.self_attn.k_proj.weight", {24, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.o_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.o_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.q_proj.bias", {48}, 1, 2, 1},
    {"model.layers.#.self_attn.q_proj.weight", {48, 48}, 2, 2, 1},
    {"model.layers.#.self_attn.v_proj.bias", {24}, 1, 2, 1},
    {"model.layers.#.self_attn.v_proj.weight", {24, 48}, 2, 2, 1},
    {"model.norm.weight", {48}, 1, 1, 1},
    {0},
};
static const char hf_config_65[] =
    "{\"attention_bias\": true, \"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_no"
    "rm_eps\": 1e-05, \"logit_scale\": 3.0, \"max_position_embeddings\": 64, \"model_type\": \"cohere\", \"num_atte"
    "ntion_heads\": 6, \"num_hidden_layers\": 2, \"num_key_value_heads\": 3, \"rope_parameters\": {\"rope_theta\":"
    " 500000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\": true, \"use_qk_norm\": false, \"vocab_size\":"
    " 40}";
static const float hf_logits_65[] = {
    8.3888245e+00f, 8.3334801e+01f, -1.3123627e+01f, 5.5493660e+00f, -6.2055597e+00f, -3.9469070e+00f, 2.5697236e+00f, 1.1701428e+01f,
    2.0240335e+00f, 1.7575954e+01f, -1.1405787e+01f, -2.8894143e+00f, 4.8541646e+00f, -1.8633511e+01f, -7.6020427e+00f, 7.3425508e+00f,
    -8.9102898e+00f, -1.0351858e+01f, 1.0782217e+00f, 1.9060221e+01f, -9.2016783e+00f, 6.3671887e-01f, 2.0895153e+01f, 9.4256248e+00f,
    5.9210711e+00f, 2.0609234e+01f, -1.0546119e+00f, 1.0577454e+01f, 2.9689872e+00f, -2.9133489e+00f, 4.5163941e+00f, 4.9188819e+00f,
    -6.5643463e+00f, -6.6106036e-02f, -1.4332003e+01f, -9.7841311e+00f, 5.1893754e+00f, -1.2263618e+01f, -1.2301271e+01f, 4.9775572e+00f,
};

static const hf_tensor hf_tensors_66[] = {
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"model.embed_tokens.weight", {40, 48}, 2, 1, 1},
    {"model.layers.#.input_layernorm.bias", {48}, 1, 2, 1},
    {"model.layers.#.input_layernorm.weight", {48}, 1, 2, 1},
    {"model.layers.#.mlp.down_proj.weight", {48, 40}, 2, 2, 1},
    {"model.layers.#.mlp.gate_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.mlp.up_proj.weight", {40, 48}, 2, 2, 1},
    {"model.layers.#.post_attention_layernorm.bias", {48}, 1, 2, 1},
    {"model.layers.#.post_attention_layernorm.weight", {48}, 1, 2, 1},
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
static const char hf_config_66[] =
    "{\"hidden_act\": \"silu\", \"hidden_size\": 48, \"intermediate_size\": 40, \"layer_norm_eps\": 0.01, \"max_posi"
    "tion_embeddings\": 64, \"model_type\": \"stablelm\", \"num_attention_heads\": 6, \"num_hidden_layers\": 2, \"n"
    "um_key_value_heads\": 3, \"qk_layernorm\": true, \"rope_parameters\": {\"partial_rotary_factor\": 0.5, \"rop"
    "e_theta\": 10000.0, \"rope_type\": \"default\"}, \"tie_word_embeddings\": false, \"use_parallel_residual\": f"
    "alse, \"use_qkv_bias\": false, \"vocab_size\": 40}";
static const float hf_logits_66[] = {
    -7.2792798e-01f, -2.6384184e+00f, -2.6471119e+00f, 7.9294124e+00f, -3.4617167e+00f, 6.3035026e+00f, 2.0687997e+00f, -8.3362520e-01f,
    1.1264310e+00f, -1.7692791e+00f, 6.9466949e+00f, -2.7813170e+00f, 1.5454057e+00f, 2.9228320e+00f, -4.2275591e+00f, -4.3640871e+00f,
    -8.3892322e-01f, -6.6080008e+00f, -5.3783898e+00f, -2.8572109e+00f, 8.7626686e+00f, 3.0891964e+00f, -3.8335857e+00f, -4.3400979e+00f,
    8.0248439e-01f, -1.6118288e+00f, -2.3898418e-01f, -1.9624014e+00f, 5.6824303e+00f, 2.6723707e+00f, 8.1795998e+00f, -3.8967137e+00f,
    -1.9066595e+00f, 4.3462187e-01f, 2.2893560e+00f, 2.7984786e+00f, -9.7545868e-01f, -6.9704838e+00f, -6.5790415e-01f, -3.4050279e+00f,
};

static const hf_tensor hf_tensors_67[] = {
    {"lm_head.bias", {40}, 1, 1, 1},
    {"lm_head.weight", {40, 48}, 2, 1, 1},
    {"transformer.h.#.attn.k_proj.weight", {48, 48}, 2, 2, 1},
    {"transformer.h.#.attn.out_proj.weight", {48, 48}, 2, 2, 1},
    {"transformer.h.#.attn.q_proj.weight", {48, 48}, 2, 2, 1},
    {"transformer.h.#.attn.v_proj.weight", {48, 48}, 2, 2, 1},
    {"transformer.h.#.ln_1.bias", {48}, 1, 2, 1},
    {"transformer.h.#.ln_1.weight", {48}, 1, 2, 1},
    {"transformer.h.#.mlp.fc_in.bias", {192}, 1, 2, 1},
    {"transformer.h.#.mlp.fc_in.weight", {192, 48}, 2, 2, 1},
    {"transformer.h.#.mlp.fc_out.bias", {48}, 1, 2, 1},
    {"transformer.h.#.mlp.fc_out.weight", {48, 192}, 2, 2, 1},
    {"transformer.ln_f.bias", {48}, 1, 1, 1},
    {"transformer.ln_f.weight", {48}, 1, 1, 1},
    {"transformer.wte.weight", {40, 48}, 2, 1, 1},
    {0},
};
static const char hf_config_67[] =
    "{\"activation_function\": \"gelu_new\", \"layer_norm_epsilon\": 1e-05, \"model_type\": \"gptj\", \"n_embd\": 48,"
    " \"n_head\": 3, \"n_inner\": null, \"n_layer\": 2, \"n_positions\": 64, \"rotary_dim\": 8, \"tie_word_embedding"
    "s\": false, \"vocab_size\": 40}";
static const float hf_logits_67[] = {
    -5.4713449e+00f, -4.1010189e-01f, -2.3893154e+00f, -2.9153006e+00f, 1.9845966e+00f, 3.5614316e+00f, 8.2975793e-01f, 8.9742002e+00f,
    -4.9101477e+00f, 6.9096076e-01f, 4.4211535e+00f, -4.5986800e+00f, -3.8110230e+00f, -1.6215370e+00f, 5.4002266e+00f, -1.2028719e+00f,
    3.8632014e+00f, 8.7979593e+00f, 4.3558455e+00f, -1.4042877e+00f, -5.1888995e+00f, -3.3165550e+00f, -6.0639590e-01f, -1.8193488e+00f,
    2.3878510e+00f, -2.4139285e+00f, -3.8877335e+00f, -1.7029953e+00f, -9.5861411e-01f, 1.1130527e+00f, 5.5609732e+00f, -1.3693984e+00f,
    -1.9123599e-01f, 7.2368109e-01f, -4.9358644e+00f, 4.6836257e+00f, -2.7451434e+00f, 4.8108678e+00f, -8.6012787e-01f, -2.6651618e+00f,
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
    {"gpt_oss truncate", "BF16", hf_config_53, hf_tensors_53, hf_logits_53},
    {"gemma2 scalar", "F32", hf_config_54, hf_tensors_54, hf_logits_54},
    {"gemma3_text scalar", "BF16", hf_config_55, hf_tensors_55, hf_logits_55},
    {"ministral3", "F32", hf_config_56, hf_tensors_56, hf_logits_56},
    {"gpt_neox gelu", "F32", hf_config_57, hf_tensors_57, hf_logits_57},
    {"llama yarn", "F16", hf_config_58, hf_tensors_58, hf_logits_58},
    {"llama longrope", "F32", hf_config_59, hf_tensors_59, hf_logits_59},
    {"olmo3 yarn", "BF16", hf_config_60, hf_tensors_60, hf_logits_60},
    {"starcoder2 plain", "F32", hf_config_61, hf_tensors_61, hf_logits_61},
    {"qwen3 bias", "BF16", hf_config_62, hf_tensors_62, hf_logits_62},
    {"granite plain", "F16", hf_config_63, hf_tensors_63, hf_logits_63},
    {"phi3 part", "F32", hf_config_64, hf_tensors_64, hf_logits_64},
    {"cohere plain", "F32", hf_config_65, hf_tensors_65, hf_logits_65},
    {"stablelm sequential", "BF16", hf_config_66, hf_tensors_66, hf_logits_66},
    {"gptj", "F16", hf_config_67, hf_tensors_67, hf_logits_67},
};
enum { HF_VOCABULARY = 40, HF_TOKENS = 24 };
