# floor(NAME SOURCES... LINK libs...): a static library rpm_NAME; LINK names what that floor may use.
function(floor name)
	cmake_parse_arguments(F "" "" "SOURCES;LINK" ${ARGN})
	add_library(rpm_${name} STATIC ${F_SOURCES})
	target_link_libraries(rpm_${name} PUBLIC ${F_LINK})
endfunction()
