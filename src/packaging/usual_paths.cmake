# Run by cpack on what it is about to pack: Debian's programs find Debian's libraries without paths of their own, which the
# build has put in for other places.
file(GLOB_RECURSE programs ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*)
list(FILTER programs INCLUDE REGEX "/bin/[^/]*$|[.]so[.]")
foreach(program ${programs})
  if(NOT IS_SYMLINK ${program})
    file(RPATH_REMOVE FILE ${program})
  endif()
endforeach()
