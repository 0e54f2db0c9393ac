/* detent/version.h: the version of the border, and what it promises.
 *
 * MAJOR changes when something that worked stops working. A plugin of another major is refused,
 * never loaded with a warning.
 * MINOR grows when fields, slots, services or extensions are appended. From major 1 on, a plugin
 * built against 1.x runs in every host 1.y with y >= x, and both sides behave as the lower minor.
 *
 * Major 0 is the time before that promise: slots may still move, hence a host loads a plugin of
 * major 0 only if the minor is the same too. Rebuild the plugin with the host's headers. Major 1 is
 * frozen once all first-party executors, and one written outside C++, pass `detent plugin check` at
 * its highest level in both isolation modes.
 *
 * Services and extensions carry a revision of their own in their id ("detent.http/1"). A new
 * revision is a new id; the old one stays as it was. Tables and structs grow at their end only.
 *
 * These numbers are also read by CMake, so each stays a plain decimal on one line.
 */
#ifndef DETENT_VERSION_H_
#define DETENT_VERSION_H_

#define DETENT_ABI_MAJOR 0
#define DETENT_ABI_MINOR 3

#endif /* DETENT_VERSION_H_ */
