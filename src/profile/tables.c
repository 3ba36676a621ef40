/*
 * tables.c - words and sentences of the lists in profile.h.
 */
#include <plimsoll/profile.h>
#include <plimsoll/units.h>

#include <string.h>

#define PLIM_X(name, number, word, text) \
	case number:                     \
		return word;
const char *plim_view_word(int view)
{
	switch (view) {
		PLIM_VIEW_LIST(PLIM_X)
	}
	return NULL;
}

const char *plim_activity_word(int activity)
{
	switch (activity) {
		PLIM_ACTIVITY_LIST(PLIM_X)
	}
	return NULL;
}

const char *plim_special_name(int special)
{
	switch (special) {
		PLIM_SPECIAL_LIST(PLIM_X)
	}
	return NULL;
}

const char *plim_profile_end_word(int end)
{
	switch (end) {
		PLIM_PROFILE_END_LIST(PLIM_X)
	}
	return NULL;
}

const char *plim_profile_ratio_name(int ratio)
{
	switch (ratio) {
		PLIM_PROFILE_RATIO_LIST(PLIM_X)
	}
	return NULL;
}
#undef PLIM_X

#define PLIM_X(name, number, word, text) \
	case number:                     \
		return text;
const char *plim_view_text(int view)
{
	switch (view) {
		PLIM_VIEW_LIST(PLIM_X)
	}
	return NULL;
}

const char *plim_activity_text(int activity)
{
	switch (activity) {
		PLIM_ACTIVITY_LIST(PLIM_X)
	}
	return NULL;
}

const char *plim_special_text(int special)
{
	switch (special) {
		PLIM_SPECIAL_LIST(PLIM_X)
	}
	return NULL;
}

const char *plim_profile_end_text(int end)
{
	switch (end) {
		PLIM_PROFILE_END_LIST(PLIM_X)
	}
	return NULL;
}

const char *plim_profile_ratio_text(int ratio)
{
	switch (ratio) {
		PLIM_PROFILE_RATIO_LIST(PLIM_X)
	}
	return NULL;
}
#undef PLIM_X

#define PLIM_X(name, number, word, unit, text) \
	case number:                           \
		return word;
const char *plim_profile_metric_name(int metric)
{
	switch (metric) {
		PLIM_PROFILE_METRIC_LIST(PLIM_X)
	}
	return NULL;
}
#undef PLIM_X

#define PLIM_X(name, number, word, unit, text) \
	case number:                           \
		return text;
const char *plim_profile_metric_text(int metric)
{
	switch (metric) {
		PLIM_PROFILE_METRIC_LIST(PLIM_X)
	}
	return NULL;
}
#undef PLIM_X

#define PLIM_X(name, number, word, unit, text) \
	case number:                           \
		return PLIM_UNIT_##unit;
int plim_profile_metric_unit(int metric)
{
	switch (metric) {
		PLIM_PROFILE_METRIC_LIST(PLIM_X)
	}
	return PLIM_UNIT_NONE;
}
#undef PLIM_X

int plim_view_find(plim_bytes word)
{
	for (int view = PLIM_VIEW_CPU; view <= PLIM_VIEW_WALL; view++) {
		const char *own = plim_view_word(view);

		if (strlen(own) == word.size &&
		    memcmp(own, word.data, word.size) == 0)
			return view;
	}
	return 0;
}
