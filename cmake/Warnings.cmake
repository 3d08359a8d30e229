add_compile_options(-Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wswitch-enum
	-Wno-missing-field-initializers
	# Texts for people have a bound, and being cut there is what the bound is for.
	-Wno-format-truncation)
if(ENABLE_WERROR)
	add_compile_options(-Werror)
endif()
