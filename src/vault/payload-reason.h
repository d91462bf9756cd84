/* What a secret_payload_invalid's `reason` says to people. Pure. */
#pragma once

/* A clause without subject or full stop, for "the payload: …"; NULL: a word without words. */
const char *payload_reason_words(const char *reason);
