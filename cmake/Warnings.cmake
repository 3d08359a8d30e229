add_compile_options(-Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wswitch-enum
	-Wno-missing-field-initializers)
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
	# Texts for people have a bound, and being cut there is what the bound is for.
	add_compile_options(-Wno-format-truncation)
endif()
if(ENABLE_WERROR)
	add_compile_options(-Werror)
endif()
