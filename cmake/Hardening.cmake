# What Debian builds its own services with. The daemon parses what comes from peers and from HTTP.
# Not for sanitizer builds: they bring their own checks, and fortified calls would hide from them.
if(NOT ENABLE_SANITIZER)
	set(optimised "$<CONFIG:Release,RelWithDebInfo,MinSizeRel>")
	add_compile_options(-fstack-protector-strong)
	add_compile_definitions("$<${optimised}:_FORTIFY_SOURCE=2>")
	# With fortified calls gcc warns of every snprintf that may truncate, which is what it is for.
	if(CMAKE_C_COMPILER_ID STREQUAL GNU)
		add_compile_options(-Wno-format-truncation)
	endif()
	set(CMAKE_POSITION_INDEPENDENT_CODE ON)
	add_link_options(-Wl,-z,relro -Wl,-z,now)
endif()
