# The Debian package: `scripts/package`, or the target `deb` of a release build. deploy/package has its files.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON) # packing builds no tests
set(package_files ${CMAKE_SOURCE_DIR}/deploy/package)
set(package_man ${CMAKE_BINARY_DIR}/package/fairqueue.1.gz)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/package)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${package_files}/fairqueue.1)
file(ARCHIVE_CREATE OUTPUT ${package_man} PATHS ${package_files}/fairqueue.1 FORMAT raw COMPRESSION GZip MTIME 0)

install(TARGETS fairqueue fairqueue-load DESTINATION bin)
install(FILES ${CMAKE_SOURCE_DIR}/deploy/systemd/fairqueue.service DESTINATION /lib/systemd/system)
install(FILES ${package_files}/fairqueue.toml DESTINATION /etc/fairqueue)
install(FILES ${package_man} DESTINATION share/man/man1)
install(FILES ${package_files}/fairqueue.bash DESTINATION share/bash-completion/completions RENAME fairqueue)
install(FILES ${package_files}/copyright CHANGELOG.md DESTINATION share/doc/fairqueue)
install(DIRECTORY docs/ DESTINATION share/doc/fairqueue)

set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_NAME fairqueue)
set(CPACK_PACKAGE_CONTACT "The FairQueue authors <fairqueue@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "fair waiting line, ticket stock and payment in one server")
set(CPACK_PACKAGE_DESCRIPTION "Sells tickets to a crowd that comes all at once: one order for all, no oversold ticket,\nand payments by Stripe or Paystack. fairqueue-load simulates such a crowd.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "adduser, ca-certificates, fonts-dejavu-core, tzdata")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "postgresql, redis-server, fonts-noto-core, fonts-noto-cjk")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${package_files}/conffiles ${package_files}/postinst ${package_files}/prerm ${package_files}/postrm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)

add_custom_target(deb COMMAND ${CMAKE_CPACK_COMMAND} DEPENDS fairqueue fairqueue-load USES_TERMINAL)
