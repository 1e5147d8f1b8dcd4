/* SPDX-License-Identifier: MIT */
/* How much of each LoRA adapter an answer takes: `lora` of a request, and /lora-adapters, as llama.cpp has them. */
#include <math.h>
#include <string.h>

#include "request/request.h"
#include "tool/json.h"

bool server_lora_read(const json_t *given, int32_t n, float *scales, const char *param, server_fault *fault)
{
    const json_t *entry;
    size_t i;
    if (!json_is_array(given))
        return server_fail_field(fault, param, "expected an array of {\"id\", \"scale\"}, got %s",
                                 server_json_kind(given));
    memset(scales, 0, (size_t)n * sizeof *scales);
    json_array_foreach(given, i, entry) {
        const json_t *id = json_object_get(entry, "id"), *scale = json_object_get(entry, "scale");
        if (!json_is_integer(id) || !json_is_number(scale) || json_object_size(entry) != 2)
            return server_fail_field(fault, param, "entry %zu: expected {\"id\": INTEGER, \"scale\": NUMBER}", i);
        const json_int_t number = json_integer_value(id);
        if (number < 0 || number >= n)
            return server_fail_field(fault, param, "entry %zu: there is no adapter %lld; the model has %d", i,
                                     (long long)number, n);
        if (!(fabs(json_number_value(scale)) <= 1e6))
            return server_fail_field(fault, param, "entry %zu: the scale must be -1e6 to 1e6", i);
        scales[number] = (float)json_number_value(scale);
    }
    return true;
}

bool server_request_lora(const server_request *r, server_job *job, server_fault *fault)
{
    const int32_t n = r->session.n_adapter_scales;
    if (n == 0 && (!r->lora || json_array_size(r->lora) == 0)) return true;
    float *scales = server_job_allocate(job, (size_t)n + 1, sizeof *scales);
    if (!scales) return server_fail_memory(fault);
    pthread_mutex_lock(&r->model->lock);
    memcpy(scales, r->model->scales, (size_t)n * sizeof *scales);
    pthread_mutex_unlock(&r->model->lock);
    job->options.adapter_scales = scales;
    return !r->lora || server_lora_read(r->lora, n, scales, "lora", fault);
}

void server_show_loras(server_exchange *x)
{
    server_model *m = &x->server->models[0];
    json_t *list = json_array();
    for (int32_t i = 0; i < m->options->session.n_adapter_scales; i++) {
        pthread_mutex_lock(&m->lock);
        const float scale = m->scales[i];
        pthread_mutex_unlock(&m->lock);
        const tool_json_entry entries[] = {{"id", json_integer(i)},
                                           {"path", tool_json_text(m->options->adapters[i])},
                                           {"scale", tool_json_real((double)scale)}};
        json_array_append_new(list, tool_json_object(entries, sizeof entries / sizeof *entries));
    }
    server_reply_json(x, 200, list);
}

/* The scales of requests that set none, from the next request on: [{"id", "scale"}]; adapters that aren't listed get 0.
 */
void server_set_loras(server_exchange *x)
{
    server_fault fault;
    server_model *m = &x->server->models[0];
    float scales[VOUCH_MOST_LORAS];
    const int32_t n = m->options->session.n_adapter_scales;
    if (!server_lora_read(x->json, n, scales, "body", &fault)) {
        server_reply_fault(x, &fault);
        return;
    }
    pthread_mutex_lock(&m->lock);
    memcpy(m->scales, scales, (size_t)n * sizeof *scales);
    pthread_mutex_unlock(&m->lock);
    server_show_loras(x);
}
