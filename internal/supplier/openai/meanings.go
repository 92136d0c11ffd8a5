package openai

import (
	"unitask/internal/fault"
	"unitask/internal/supplier/upstream"
)

// meanings returns the codes that say more than their status, of the format's author and of
// compatible servers.
func meanings() upstream.Meanings {
	review := upstream.Meaning{Code: fault.ContentPolicyViolation}
	full := upstream.Meaning{Code: fault.CapacityExhausted}
	operator := upstream.Meaning{Code: fault.ProviderUnavailable, Operator: true}
	invalid := upstream.Meaning{Code: fault.InvalidRequest}
	return upstream.Meanings{
		"moderation_blocked":                   review,
		"content_policy_violation":             review,
		"invalid_prompt":                       review,
		"content_filter":                       review, // Azure
		"responsibleaipolicyviolation":         review, // Azure's inner error
		"image_content_policy_violation":       review,
		"bio_policy":                           review,
		"rate_limit_exceeded":                  full,
		"slow_down":                            full,
		"overloaded_error":                     full,
		"insufficient_quota":                   operator,
		"billing_hard_limit_reached":           operator,
		"billing_not_active":                   operator,
		"account_deactivated":                  operator,
		"invalid_api_key":                      operator,
		"model_not_found":                      operator,
		"model_decommissioned":                 operator,
		"unsupported_country_region_territory": operator,
		"deploymentnotfound":                   operator, // Azure
		"not_found_error":                      operator, // Ollama: the model
		"notfounderror":                        operator, // vLLM: the model
		"not_supported_error":                  operator, // llama-server, started without the route's ability
		"permission-denied":                    operator, // xAI: the key's rights or the team's credits
		"the caller does not have permission to execute the specified operation": operator, // xAI, before
		"context_length_exceeded":   invalid,
		"exceed_context_size_error": invalid, // llama-server
		"string_above_max_length":   invalid,
		"unsupported_parameter":     invalid,
		"unsupported_value":         invalid,

		"empty_image_file":             invalid,
		"image_file_too_large":         invalid,
		"image_parse_error":            invalid,
		"image_too_large":              invalid,
		"image_too_small":              invalid,
		"invalid_base64_image":         invalid,
		"invalid_image":                invalid,
		"invalid_image_format":         invalid,
		"unsupported_image_media_type": invalid,
	}
}
