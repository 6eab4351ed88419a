// A library that has this symbol is the software's, whatever its name and place.
extern "C" {
extern const char verbs_soft_marker[];
const char verbs_soft_marker[] = "verbs-soft 1";
}
